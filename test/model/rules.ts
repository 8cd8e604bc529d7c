/** A rule that was broken by a counterexample before it had its present form (⚖ in the design, and the numbers of docs/log.md). */
export interface Rule {
  readonly name: string;
  /** Section of the design. */
  readonly section: 4 | 5 | 6 | 7;
  /** Number in docs/log.md. */
  readonly law: string;
  readonly says: string;
}

/**
 * All of them. Each has a test under its name in this folder (`⚖ NAME: …`) that shows two things: with all rules every promise holds in every
 * state of a small model, and with this one taken away the explorer finds the shortest way to where one breaks.
 */
export const rules: readonly Rule[] = [
  { name: 'locked-row', section: 4, law: 'L3', says: 'A write decides only on columns of the locked row.' },
  { name: 'key-first', section: 4, law: 'L8', says: 'A recorded key comes before every refusal.' },
  { name: 'key-kept', section: 4, law: 'L9', says: 'A key is made before the first try, and all tries carry it.' },
  {
    name: 'repeat-names-holder',
    section: 4,
    law: 'L8',
    says: 'The answer to a repeat names the present holder of the turn, not the first one.',
  },
  { name: 'terminal-final', section: 4, law: 'L2', says: 'The write itself refuses what comes after a terminal status.' },
  { name: 'applied-first', section: 4, law: 'L13', says: 'Ordinals that are applied are skipped before anything is refused.' },
  { name: 'entries-numbered', section: 4, law: 'L13', says: 'Ordinals number entries, not batches.' },
  { name: 'fence-compared', section: 4, law: 'L14', says: 'A fence that moved refuses.' },
  { name: 'gap-refused', section: 4, law: 'L15', says: 'A batch that overtook its elder is refused, and nothing of it is written.' },
  { name: 'doubt-looked-up', section: 4, law: 'L16', says: 'After an unknown outcome a refusal is held against the log.' },
  { name: 'fence-rises', section: 4, law: 'L18', says: 'The fence rises whenever the turn goes from one run to another.' },
  { name: 'fence-stays-at-close', section: 4, law: 'L18', says: 'The fence does not rise at a plain close.' },
  { name: 'fence-never-resets', section: 4, law: 'L18', says: 'The fence never starts anew.' },
  { name: 'grant-once', section: 4, law: 'L19', says: 'A process starts each grant at most once.' },
  { name: 'held-started', section: 4, law: 'L20', says: 'Every tick a replica starts the turns that name it and that it never started.' },
  { name: 'outcome-known', section: 4, law: 'L21', says: 'A run ends on a known outcome only.' },
  { name: 'attempt-per-run', section: 4, law: 'L22', says: 'The attempt rises with every new run.' },
  { name: 'tries-count-losses', section: 4, law: 'L22', says: 'The tries rise with losses only.' },
  { name: 'id-drawn', section: 4, law: 'L23', says: 'A replica’s id is drawn when its process starts.' },
  { name: 'beats-counted', section: 4, law: 'L24', says: 'Who lives is told by a counter that is observed, never by a timestamp.' },
  { name: 'gap-restarts-count', section: 4, law: 'L24', says: 'A gap between two looks starts the observation anew.' },
  { name: 'beat-as-seen', section: 4, law: 'L24', says: 'Dead is declared only who still shows the count that was seen.' },
  { name: 'death-ends-incarnation', section: 4, law: 'L25', says: 'A refused renewal ends the incarnation.' },
  { name: 'failed-renew-restarts-count', section: 4, law: 'L26', says: 'An own renewal that failed starts the observation anew.' },
  {
    name: 'close-hands-over',
    section: 4,
    law: 'L12',
    says: 'A turn that closes while messages wait opens the next one in the same commit.',
  },
  {
    name: 'submitted-in-place',
    section: 4,
    law: 'L12',
    says: 'SUBMITTED stands in the place of the state that would have ended the task.',
  },
  { name: 'messages-wait', section: 4, law: 'L12', says: 'A message to an open turn waits; it does not take the turn.' },
  { name: 'rows-locked-in-order', section: 4, law: 'L34', says: 'Task rows are locked in the order of their ids, or skipped.' },
  { name: 'rows-locked-first', section: 4, law: 'L34', says: 'Nothing is locked before the task rows.' },
  { name: 'no-lock-across-trips', section: 4, law: 'L34', says: 'No lock is held across a round trip.' },
  { name: 'wake-after-commit', section: 5, law: 'L28', says: 'A wake is sent after the acknowledgement of its commit.' },
  { name: 'wake-carries-nothing', section: 5, law: 'L28', says: 'A wake carries no entries.' },
  { name: 'latch-registered-first', section: 5, law: 'L29', says: 'A hint is registered before the first read.' },
  { name: 'latch-cleared-before-read', section: 5, law: 'L29', says: 'A hint is cleared before each read, not after it.' },
  { name: 'latch-keeps', section: 5, law: 'L29', says: 'A hint that comes while nobody waits is kept.' },
  { name: 'auth-keeps-turn', section: 6, law: 'L11', says: 'AUTH_REQUIRED alone does not close the turn.' },
  { name: 'auth-takes-messages', section: 6, law: 'L11', says: 'A message to a turn that holds on AUTH_REQUIRED is never refused.' },
  { name: 'snapshot-one-read', section: 7, law: 'L31', says: 'A snapshot and the number it covers come from one read.' },
  { name: 'cursor-continues', section: 7, law: 'L31', says: 'A valid cursor continues without a snapshot.' },
  { name: 'tail-of-ended', section: 7, law: 'L31', says: 'A valid cursor continues also when the task has ended meanwhile.' },
  { name: 'cursor-within-log', section: 7, law: 'L31', says: 'A cursor above the log counts as none.' },
];
