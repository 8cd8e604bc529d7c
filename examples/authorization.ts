// Needs the user's consent at some other service:  npm start -- --agent examples/authorization.ts --port 4000
import { createAgent } from 'chorus-a2a';
import type { Agent, Task } from 'chorus-a2a';

// Several replicas would keep the grants in a table that all of them see: the callback may reach any of them.
const grants = new Map<string, string>();

/** Reads the user's calendar once the user has signed in. The turn is closed while it waits: that costs nothing, for days. */
export const agent: Agent = createAgent({
  card: { name: 'Calendar', description: 'Tells what is on today, once you have signed in.', version: '1.0.0' },
  run(turn) {
    const user = grants.get(turn.task.id);
    if (!user) return turn.askForAuth(`Please sign in: https://login.example/authorize?state=${turn.task.id}`);
    return `Today for ${user}: lunch at noon.`;
  },
});

/** What the service's OAuth callback calls: keeps the grant and lets the task go on, without a message of the user. */
export async function onSignedIn(running: Agent, { state, user }: { readonly state: string; readonly user: string }): Promise<Task> {
  grants.set(state, user);
  return running.resume(state);
}
