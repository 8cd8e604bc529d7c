import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { benches } from './benches.ts';
import type { Effort, Figures } from './figures.ts';
import { describeMachine } from './machine.ts';
import { printPage } from './page.ts';

/** Where the table goes. */
const PAGE = 'docs/performance.md';

/** The last line of what a bench says; undefined when it failed. */
async function figuresOf(name: string, flags: readonly string[]): Promise<Figures | undefined> {
  const main = fileURLToPath(new URL('./main.js', import.meta.url));
  const child = spawn(process.execPath, [main, name, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  const isOver = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let last = '';
  for await (const line of createInterface({ input: child.stdout })) {
    console.log(`  ${line}`);
    last = line;
  }
  if ((await isOver) !== 0) return undefined;
  return JSON.parse(last) as Figures; // a bench that ends well ends with its figures
}

/**
 * Measures all, one after the other and each in a process of its own, and writes the page; gives the exit code. A bench that fails does not
 * keep the others from being measured, and its row says so.
 */
export async function runAll(effort: Effort, flags: readonly string[]): Promise<number> {
  const all: Record<string, Figures | undefined> = {};
  for (const name of Object.keys(benches)) {
    console.log(`${name}:`);
    all[name] = await figuresOf(name, flags);
  }
  writeFileSync(PAGE, printPage(benches, all, { effort, machine: describeMachine() }));
  console.log(`wrote ${PAGE}`);
  return Object.values(all).includes(undefined) ? 1 : 0;
}
