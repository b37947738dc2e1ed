import type { ToolResultBlock } from '../../canonical/chat.ts'
import type { Members } from '../members.ts'
import { decodeImage } from './decode-content.ts'

/** The output of a tool, for the model. */
export type ToolOutput = Pick<ToolResultBlock, 'content' | 'isError'>

/** A result that is a single text. */
export function textOutput(result: Members): ToolOutput {
  return plainOutput(result.requiredText('output'), result)
}

/** A failing command is not a failure of the tool, because its exit code shows it. */
export function shellOutput(result: Members): ToolOutput {
  let left = result.integer('max_output_length', 0) ?? Number.POSITIVE_INFINITY
  const content = result.requiredObjects('output').map((part) => {
    const lines: string[] = []
    for (const name of ['stdout', 'stderr']) {
      const text = part.text(name) ?? ''
      if (text === '') continue
      const shown = shortened(text, left)
      left -= Math.min(left, text.length)
      lines.push(name === 'stderr' ? `stderr:\n${shown}` : shown)
    }
    lines.push(outcomeOf(part))
    part.ignore(['created_by'])
    part.noteRest()
    return { type: 'text', text: lines.join('\n'), path: part.path } as const
  })
  return { content, isError: false }
}

function outcomeOf(part: Members): string {
  const outcome = part.requiredMembers('outcome')
  const type = outcome.requiredWord('type', ['exit', 'timeout'])
  const text = type === 'exit' ? `[exit code ${outcome.integer('exit_code') ?? 'unknown'}]` : '[timed out]'
  outcome.noteRest()
  return text
}

/**
 * Returns the beginning and the end of a text. The client sends the complete output together with the limit
 * that the model set, and the vendor shortens it: https://developers.openai.com/api/docs/guides/tools-shell,
 * read 2026-11-28
 */
function shortened(text: string, most: number): string {
  if (text.length <= most) return text
  const head = Math.ceil(most / 2)
  const tail = most - head
  const end = tail === 0 ? '' : text.slice(-tail).toWellFormed()
  return `${text.slice(0, head).toWellFormed()}\n[${text.length - most} characters omitted]\n${end}`
}

/** The result of a patch, which does not have to contain text. */
export function patchOutput(result: Members): ToolOutput {
  const status = result.requiredWord('status', ['completed', 'failed'])
  const output = result.text('output') ?? ''
  const isError = status === 'failed'
  const text = output === '' ? `The patch ${isError ? 'was not' : 'was'} applied.` : output
  return { ...plainOutput(text, result), isError }
}

/** A screenshot. */
export function screenshotOutput(result: Members): ToolOutput {
  const picture = result.requiredMembers('output')
  picture.requiredWord('type', ['computer_screenshot'])
  const content = [decodeImage(picture)]
  picture.noteRest()
  return { content, isError: false }
}

function plainOutput(text: string, { path }: Members): ToolOutput {
  return { content: [{ type: 'text', text, path }], isError: false }
}
