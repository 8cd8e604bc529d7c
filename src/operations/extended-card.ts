import { A2AError, unsupportedOperation } from '../protocol/errors.ts';
import type { OperationParts } from './parts.ts';

/** GetExtendedAgentCard: not offered (XCARD-01), or declared by the card but not there (XCARD-02). */
export function extendedCardRefusal({ capabilities }: OperationParts): A2AError {
  if (!capabilities.extendedAgentCard) return unsupportedOperation('This agent has no extended card.');
  return new A2AError('EXTENDED_AGENT_CARD_NOT_CONFIGURED', 'The card promises an extended card, but none is configured.');
}
