import { areChoices, copied, escapeHtml, type Fence, highlighted, labelOf } from './code.ts'

/** Icons of 16 px, drawn by us. */
const copyIcon =
  '<svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.5"><rect x="5.5" y="5.5" width="8" height="8" rx="1.5"/><path d="M10.5 3.5v-1h-8v8h1"/></svg>'

/** One block of code, or several with tabs. `name`: tells the blocks of a page apart. */
export function codeHtml(fences: readonly Fence[], name: string): string {
  if (!areChoices(fences)) return fences.map((fence) => `<div class="code">${panel(fence)}</div>`).join('\n')
  const tabs = fences.map((fence, index) => {
    const label = escapeHtml(labelOf(fence))
    const [isFirst, focus] = index === 0 ? ['true', '0'] : ['false', '-1']
    return `<button type="button" role="tab" id="${name}-t${index}" aria-controls="${name}-p${index}" aria-selected="${isFirst}" tabindex="${focus}" data-choice="${label}">${label}</button>`
  })
  const panels = fences.map(
    (fence, index) =>
      `<div role="tabpanel" id="${name}-p${index}" aria-labelledby="${name}-t${index}"${index === 0 ? '' : ' hidden'} data-choice="${escapeHtml(labelOf(fence))}">${panel(fence)}</div>`,
  )
  return `<div class="code" data-choices><div class="tabs" role="tablist" aria-label="Language">${tabs.join('')}</div>${panels.join('')}</div>\n`
}

function panel(fence: Fence): string {
  const text = copied(fence)
  const isOutput = text === undefined
  const language = escapeHtml(fence.language)
  const code = `<pre tabindex="0"${isOutput ? ' data-output' : ''}><code class="hljs language-${language}">${highlighted(fence)}</code></pre>`
  if (isOutput) return code
  // Only what differs from the code itself is written a second time.
  const own = text === fence.text ? '' : ` data-text="${escapeHtml(text)}"`
  return `${code}<button type="button" class="copy"${own} aria-label="Copy the code" title="Copy the code">${copyIcon}</button>`
}
