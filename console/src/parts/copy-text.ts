import { fails } from './toast.tsx'

/** Resolves with whether the text is in the clipboard. Where it is not, a toast says so. */
export async function copyText(text: string): Promise<boolean> {
  // On plain HTTP, where an operator may well try the gateway, a page has no clipboard.
  const isCopied = await navigator.clipboard?.writeText(text).then(
    () => true,
    () => undefined,
  )
  if (isCopied || copySelected(text)) return true
  fails('The copy', new Error('The browser does not let the page do it. Select the text, and press Ctrl+C.'))
  return false
}

/** The old way: what is selected is copied. */
function copySelected(text: string): boolean {
  const before = document.activeElement
  const field = document.createElement('textarea')
  field.value = text
  field.style.position = 'fixed'
  field.style.opacity = '0'
  document.body.append(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  if (before instanceof HTMLElement) before.focus()
  return isCopied
}
