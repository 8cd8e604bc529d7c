import { describe, test } from 'vitest';
import { memory } from '../../src/agent/memory.ts';
import { wakeSuite } from '../../src/testing/wake-suite.ts';

wakeSuite('the hub of one process', memory, { describe, test });
