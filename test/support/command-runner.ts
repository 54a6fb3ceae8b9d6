/*
 * A process that runs one `botshelf` after another, each as its parent says, so that the program's modules are loaded
 * once. Each run has the environment, the folder and the arguments of a process of its own, and main.ts is evaluated again.
 */
export interface CommandRequest {
  /** Ends the output of the run on both streams; the exit code follows on standard output. */
  readonly mark: string;
  readonly mainFile: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

async function run({ mark, mainFile, args, cwd, env }: CommandRequest): Promise<void> {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  process.argv = [process.execPath, mainFile, ...args];
  process.exitCode = 0;
  await import(`${mainFile}?${mark}`);
  process.stdout.removeAllListeners('error');
  process.stderr.write(`${mark}\n`);
  process.stdout.write(`${mark}${process.exitCode}\n`);
}

process.on('message', (request: CommandRequest) => void run(request));
