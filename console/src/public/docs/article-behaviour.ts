import { choose, chosen } from '../chosen.ts'

/**
 * What the HTML of a document does: copy, choose a language, go to another page without loading all again.
 */

const copiedMs = 1_500

export function onArticleClick(event: MouseEvent, go: (to: string) => void): void {
  const target = event.target instanceof Element ? event.target : null
  const copy = target?.closest<HTMLButtonElement>('button.copy')
  const tab = target?.closest<HTMLButtonElement>('[role=tab]')
  const link = target?.closest('a')
  if (copy) void copyCode(copy)
  else if (tab) chooseTab(tab)
  else if (link && isPlain(event) && isPage(link)) {
    event.preventDefault()
    go(link.pathname + link.hash)
  }
}

/** Arrows go through the tabs of a block of code. */
export function onArticleKey(event: KeyboardEvent): void {
  const tab = event.target instanceof Element ? event.target.closest<HTMLButtonElement>('[role=tab]') : null
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
  if (tab === null || step === undefined) return
  const tabs = [...(tab.parentElement?.querySelectorAll<HTMLButtonElement>('[role=tab]') ?? [])]
  const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length]
  if (next === undefined) return
  event.preventDefault()
  chooseTab(next)
  next.focus()
}

/** Show the language that was chosen last in each block of code that has it. */
export function showChosen(root: ParentNode): void {
  const label = chosen()
  if (label === null) return
  for (const block of root.querySelectorAll('[data-choices]')) showIn(block, label)
}

function chooseTab(tab: HTMLElement): void {
  const { choice = '' } = tab.dataset
  const block = tab.closest('[data-choices]')
  const before = tab.getBoundingClientRect().top
  if (block !== null) showIn(block, choice)
  choose(choice)
  // Blocks above may have another height now. The tab stays under the pointer.
  window.scrollBy(0, tab.getBoundingClientRect().top - before)
}

function showIn(block: Element, label: string): void {
  const parts = [...block.querySelectorAll<HTMLElement>('[data-choice]')]
  if (!parts.some(({ dataset }) => dataset.choice === label)) return
  for (const part of parts) {
    const isChosen = part.dataset.choice === label
    if (part.role === 'tabpanel') part.hidden = !isChosen
    else {
      part.setAttribute('aria-selected', String(isChosen))
      part.tabIndex = isChosen ? 0 : -1
    }
  }
}

async function copyCode(button: HTMLButtonElement): Promise<void> {
  const code = button.parentElement?.querySelector('code')
  const text = button.dataset.text ?? code?.textContent ?? ''
  const name = 'Copy the code'
  try {
    await navigator.clipboard.writeText(text)
    say(button, 'Copied')
  } catch {
    // Over plain HTTP a page may not write to the clipboard: the code is selected, for Ctrl+C.
    if (code) window.getSelection()?.selectAllChildren(code)
    say(button, 'Selected. Press Ctrl+C')
  }
  setTimeout(() => {
    delete button.dataset.said
    button.setAttribute('aria-label', name)
  }, copiedMs)
}

function say(button: HTMLButtonElement, words: string): void {
  button.dataset.said = words
  button.setAttribute('aria-label', words)
}

function isPlain(event: MouseEvent): boolean {
  return event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey
}

function isPage({ origin, pathname, hash }: HTMLAnchorElement): boolean {
  if (origin !== window.location.origin || !/^\/docs(\/|$)/.test(pathname)) return false
  // An anchor of this page: the browser does that best.
  return !(pathname === window.location.pathname && hash !== '')
}
