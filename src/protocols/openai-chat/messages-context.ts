import type { Traits } from '../../canonical/traits.ts'
import type { Notes } from '../notes.ts'
import type { PromptMarks } from '../prompt-marks.ts'
import type { ToolNames } from '../tool-names.ts'

/** What the encoders of a conversation share: where notes go, and what the upstream takes. */
export interface MessagesContext {
  notes: Notes
  marks: PromptMarks
  tools: ToolNames
  upstreamModel: string
  /** The upstream takes calls of custom tools; otherwise they are calls of functions. */
  customTools: boolean
  /** The upstream takes the role `developer`. */
  developerRole: boolean
  /** The upstream takes several instructions in front; otherwise one. */
  severalInstructions: boolean
  /** The upstream takes the text of a turn in several parts. */
  textParts: boolean
  /** The ids of calls that the upstream takes. */
  callIds: Traits['callIds']
}
