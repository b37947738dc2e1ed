import type { Traits } from '../../canonical/traits.ts'
import type { Notes } from '../notes.ts'
import type { PromptMarks } from '../prompt-marks.ts'
import type { ToolNames } from '../tool-names.ts'
import type { TurnMemo } from '../turn-memo.ts'

/**
 * The context shared by the encoders of a conversation: where notes are collected, and what the upstream
 * supports.
 */
export interface MessagesContext {
  notes: Notes
  marks: PromptMarks
  tools: ToolNames
  upstreamModel: string
  /** Whether the upstream supports calls of custom tools. Otherwise they become function calls. */
  customTools: boolean
  /** Whether the upstream supports the role `developer`. */
  developerRole: boolean
  /** Whether the upstream accepts several instructions at the beginning. Otherwise they are joined. */
  severalInstructions: boolean
  /** Whether the upstream accepts the text of a turn in several parts. */
  textParts: boolean
  /** The call ids that the upstream accepts. */
  callIds: Traits['callIds']
  /** Of a remembered conversation. */
  memo: TurnMemo | undefined
}
