import type { Notes } from '../notes.ts'
import { type MarksContext, PromptMarks } from '../prompt-marks.ts'

/** The cache marks of this format, whose upstreams cache only what is marked. */
export class CacheMarks extends PromptMarks {
  constructor(notes: Notes, context: MarksContext) {
    super(notes, context, 'marks')
  }
}
