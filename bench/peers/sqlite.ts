import { hash } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Stage } from '../stage.ts';

/** What is used of better-sqlite3. It is installed by hand, as it has to be compiled. */
export interface SqliteDatabase {
  pragma(text: string): unknown;
  exec(sql: string): void;
  prepare(sql: string): {
    run(...values: unknown[]): { readonly changes: number };
    get(...values: unknown[]): unknown;
  };
  close(): void;
}

/** Opens a database that waits for the disk on every commit. @throws {Error} where better-sqlite3 is not installed */
export function openSqlite(file: string): SqliteDatabase {
  const Database = createRequire(import.meta.url)('better-sqlite3') as new (file: string) => SqliteDatabase;
  const database = new Database(file);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  return database;
}

/** Writes a database with a table of the stage's bots. Returns its file; undefined where better-sqlite3 is not installed. */
export function fillSqlite(stage: Stage): string | undefined {
  const file = join(stage.tempFolder(), 'bots.db');
  let database: SqliteDatabase;
  try {
    database = openSqlite(file);
  } catch {
    return undefined;
  }
  database.exec(
    'CREATE TABLE bots (id TEXT PRIMARY KEY, token TEXT UNIQUE, count INTEGER, counted_at INTEGER) WITHOUT ROWID',
  );
  const insert = database.prepare('INSERT INTO bots (id, token) VALUES (?, ?)');
  database.exec('BEGIN');
  for (const { id, token } of stage.bots) insert.run(id, hash('sha256', token));
  database.exec('COMMIT');
  database.close();
  return file;
}
