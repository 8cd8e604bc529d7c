import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** How many rows of 1 KB a bare program inserts in a second, 100 a transaction. */
export function rawRowsPerSecond(rows: number): number {
  const folder = mkdtempSync(join(tmpdir(), 'chorus-bench-raw-'));
  try {
    const program = fileURLToPath(new URL('./raw.js', import.meta.url));
    const said = execFileSync(process.execPath, [program, join(folder, 'raw.db'), String(rows)], { encoding: 'utf8' });
    return (JSON.parse(said) as { rowsPerSecond: number }).rowsPerSecond; // its one line
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
