import { apply } from './apply.ts'
import { backup } from './backup.ts'
import { channelsBlock } from './channels-block.ts'
import { channelsUnblock } from './channels-unblock.ts'
import type { Command } from './command.ts'
import { completion } from './completion.ts'
import { doctor } from './doctor.ts'
import { importCommand } from './import.ts'
import { keysBlock } from './keys-block.ts'
import { keysCreate } from './keys-create.ts'
import { keysFind } from './keys-find.ts'
import { keysList } from './keys-list.ts'
import { keysRevoke } from './keys-revoke.ts'
import { keysRotate } from './keys-rotate.ts'
import { keysUnblock } from './keys-unblock.ts'
import { ledgerInspect } from './ledger-inspect.ts'
import { ledgerReplay } from './ledger-replay.ts'
import { ledgerVerify } from './ledger-verify.ts'
import { logsFind } from './logs-find.ts'
import { logsTail } from './logs-tail.ts'
import { migrate } from './migrate.ts'
import { pricesCheck } from './prices-check.ts'
import { probe } from './probe.ts'
import { restore } from './restore.ts'
import { secretsRotate } from './secrets-rotate.ts'
import { start } from './start.ts'
import { topup } from './topup.ts'
import { verify } from './verify.ts'
import { worker } from './worker.ts'

/**
 * All commands, in the order of the help. The help, shell completion and the table in
 * docs/reference/command-line.md are derived from this list. To add a command, add a file to this folder and
 * a line to this list.
 */
export const commands: readonly Command[] = [
  start,
  worker,
  migrate,
  apply,
  importCommand,
  completion,
  keysList,
  keysFind,
  keysCreate,
  keysRotate,
  keysRevoke,
  keysBlock,
  keysUnblock,
  topup,
  doctor,
  logsTail,
  logsFind,
  verify,
  probe,
  pricesCheck,
  channelsBlock,
  channelsUnblock,
  ledgerVerify,
  ledgerInspect,
  ledgerReplay,
  secretsRotate,
  backup,
  restore,
]
