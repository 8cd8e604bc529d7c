import type { Verdict } from './explore.ts';

/** One thing that may happen next on a stage. */
export interface Action {
  readonly label: string;
  readonly isFault?: boolean;
  act(): void;
}

/** Real code in the hands of a model, which decides when each of its calls is answered. It has no state to copy: it is played again. */
export interface Stage {
  /** In a fixed order, each under a label of its own. */
  actions(): readonly Action[];
  /** All that can matter to what comes: two stages that print alike go on alike. */
  print(): string;
  broken(): string | undefined;
  unfinished(): string | undefined;
}

/** After all that follows from what was just done. Nothing on a stage waits for anything else but the next action. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** As `explore`, for a stage: each state is reached by playing the actions that lead to it, from the start, on a new stage. */
export async function exploreRuns(open: () => Stage): Promise<Verdict> {
  const play = async (path: readonly string[]): Promise<Stage> => {
    const stage = open();
    await settled();
    for (const label of path) await act(stage, label);
    return stage;
  };
  const reached = new Map<string, number>();
  const seen = new Set([(await play([])).print()]);
  const paths: (readonly string[])[] = [[]];
  for (const path of paths) {
    const here = await play(path);
    const print = here.print();
    let goesOn = false;
    for (const { label, isFault } of here.actions()) {
      reached.set(label, (reached.get(label) ?? 0) + 1);
      const next = await play([...path, label]);
      const to = next.print();
      if (to !== print && !isFault) goesOn = true;
      if (seen.has(to)) continue;
      seen.add(to);
      paths.push([...path, label]);
      const property = next.broken();
      if (property !== undefined) return { kind: 'breaks', property, trace: [...path, label], states: seen.size };
    }
    const owed = goesOn ? undefined : here.unfinished();
    if (owed !== undefined) return { kind: 'breaks', property: owed, trace: path, states: seen.size };
  }
  return { kind: 'holds', states: seen.size, reached };
}

async function act(stage: Stage, label: string): Promise<void> {
  const action = stage.actions().find((one) => one.label === label);
  if (action === undefined) throw new Error(`model: "${label}" cannot be played again: the stage is not deterministic`);
  action.act();
  await settled();
}
