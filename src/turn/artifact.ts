import { toParts } from '../protocol/parts.ts';
import type { Artifact } from '../protocol/types.ts';
import type { Speech } from './speech.ts';
import { artifactDetails } from './speech.ts';
import type { ArtifactOptions, ArtifactWriter } from './turn.ts';
import { verb } from './verb.ts';

/**
 * A writer for one artifact. With an id of its own making the first piece of a run opens it anew, so that a re-run replaces what a lost
 * attempt left. An id given by the author may span turns: appending to it adds to what stands there (AMB-09).
 */
export function artifactWriter(speech: Speech, options: ArtifactOptions, isInTask: (artifactId: string) => boolean): ArtifactWriter {
  const artifactId = speech.artifactId(options);
  const details = artifactDetails(options);
  const isShared = options.artifactId !== undefined && isInTask(artifactId);
  let hasDetails = false;
  // name and the like travel with the first piece only: the fold keeps them
  const piece = (parts: Artifact['parts'], isWhole: boolean): Artifact => {
    const isBare = hasDetails && !isWhole;
    hasDetails = true;
    return { artifactId, ...(isBare ? {} : details), parts };
  };
  return Object.freeze<ArtifactWriter>({
    artifactId,
    write: (content, { isLast = false } = {}) => verb(() => speech.artifact(piece(toParts(content), true), { isLast })),
    append: (content, { isLast = false } = {}) =>
      verb(() => {
        const parts = toParts(content);
        const isAppended = isShared || speech.hasOpened(artifactId);
        return speech.artifact(piece(parts, !isAppended), { isLast, isAppended });
      }),
  });
}
