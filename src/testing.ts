/** Suites for stores and wakes of your own, faults, time you own, replicas as processes, and the checker of histories. */
export { checkHistory } from './testing/checker.ts';
export type { Judging, Verdict } from './testing/checker.ts';
export type { Evidence, PromiseId, StoredTask, Violation } from './testing/checks/check.ts';
export { SETTLE_SLACK_MS } from './testing/checks/settling.ts';
export type { FairMs, JudgedKill, Settled } from './testing/checks/settling.ts';
export { History, taskIdsIn } from './testing/facts.ts';
export type {
  CancelFact,
  CloseFact,
  Fact,
  FactHead,
  ItemFact,
  KillFact,
  LeaveFact,
  OpenFact,
  Outcome,
  ReadFact,
  SendFact,
} from './testing/facts.ts';
export { faults, withFault } from './testing/faults.ts';
export type { Fault } from './testing/faults.ts';
export { Front, REPLICA_HEADER } from './testing/front.ts';
export type { FrontTarget } from './testing/front.ts';
export { Chance } from './testing/lab/chance.ts';
export type { FaultRates, Mishap } from './testing/lab/fault-rates.ts';
export { openLab } from './testing/lab/lab.ts';
export type { Lab, LabOptions, RunOptions } from './testing/lab/options.ts';
export type { Mark, Reached } from './testing/lab/reached.ts';
export type { LabAgent, LabParts } from './testing/lab/agent-options.ts';
export type { LabReplica } from './testing/lab/replica.ts';
export type { LabCheck, LabVerdict } from './testing/lab/verdict.ts';
export type { LabViolation } from './testing/lab/violation.ts';
export { LagRecord } from './testing/lag.ts';
export type { LostTime } from './testing/lag.ts';
export { LostAnswerError, Probe } from './testing/probe.ts';
export type { ProbeOptions, Seen } from './testing/probe.ts';
export type { ProbeTarget, RequestHeaders } from './testing/probe-wire.ts';
export type { SendWords, StreamWords } from './testing/probe-words.ts';
export { ReplicaProcess } from './testing/replica-process.ts';
export type { LogLine, ProcessEnd, ReadyLine } from './testing/replica-process.ts';
export { Rig } from './testing/rig.ts';
export type { EffectLine, RigOptions } from './testing/rig.ts';
export { readStored } from './testing/stored.ts';
export { storeSuite } from './testing/store-suite.ts';
export type { SuiteRunner } from './testing/suite-runner.ts';
export { wakeSuite } from './testing/wake-suite.ts';
export { VirtualClock } from './testing/virtual-clock.ts';
