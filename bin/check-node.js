// Ends the process on a Node that cannot load the rest of this package. It imports nothing, and runs on any Node with modules.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `Botshelf needs Node 20.19 or newer; this is v${process.versions.node}. Install it from https://nodejs.org\n`,
  );
  process.exit(2);
}
