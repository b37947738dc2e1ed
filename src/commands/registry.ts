import type { Command } from './command.ts'
import { completion } from './completion.ts'
import { importCommand } from './import.ts'
import { ledgerInspect } from './ledger-inspect.ts'
import { ledgerReplay } from './ledger-replay.ts'
import { ledgerVerify } from './ledger-verify.ts'
import { pricesCheck } from './prices-check.ts'
import { secretsRotate } from './secrets-rotate.ts'
import { start } from './start.ts'
import { verify } from './verify.ts'
import { worker } from './worker.ts'

/**
 * Every command, in the order of the help. Help, shell completion and the table in docs/reference/command-line.md follow from
 * this list. A new command is a file here, and a line in it.
 */
export const commands: readonly Command[] = [
  start,
  worker,
  importCommand,
  verify,
  pricesCheck,
  completion,
  ledgerVerify,
  ledgerInspect,
  ledgerReplay,
  secretsRotate,
]
