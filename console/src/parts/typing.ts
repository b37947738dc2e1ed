/** Inputs that take no text: a key on them is a key of the page. */
const textless = /^(checkbox|radio|button|submit|reset)$/

/** Whether a key belongs to a field, and not to the page. */
export function isTyping({ target }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target instanceof HTMLInputElement && textless.test(target.type)) return false
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)
}
