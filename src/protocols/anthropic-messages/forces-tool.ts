import type { ToolChoice } from '../../canonical/chat.ts'

/** Whether a tool choice demands a call. */
export function forcesTool(choice: ToolChoice | undefined): boolean {
  return (
    choice?.type === 'required' ||
    choice?.type === 'tool' ||
    choice?.type === 'web-search' ||
    (choice?.type === 'allowed' && choice.mode === 'required')
  )
}
