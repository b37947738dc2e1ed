import { highlight } from './grammars.mjs'

/** What a reader chooses between. Other languages, such as `text`, show an answer, and stand alone. */
const choices: Readonly<Record<string, string>> = {
  bash: 'Shell',
  go: 'Go',
  java: 'Java',
  js: 'JavaScript',
  mjs: 'JavaScript',
  py: 'Python',
  python: 'Python',
  sh: 'Shell',
  ts: 'TypeScript',
  typescript: 'TypeScript',
}

export interface Fence {
  /** `ts`, `sh`, empty. */
  language: string
  /** The words behind the language, which name the tab: `python LangChain`. */
  label: string | undefined
  text: string
}

export function fenceOf(info: string, text: string): Fence {
  const [language = '', ...words] = info.trim().split(/\s+/)
  return { language, label: words.length === 0 ? undefined : words.join(' '), text: text.replace(/\n$/, '') }
}

/** Whether fences that follow each other are the same in several languages, of which a reader wants one. */
export function areChoices(fences: readonly Fence[]): boolean {
  const labels = fences.map(labelOf)
  return (
    fences.length > 1 &&
    fences.every(({ language, label }) => label !== undefined || choices[language] !== undefined) &&
    new Set(labels).size === labels.length
  )
}

export function labelOf({ language, label }: Fence): string {
  return label ?? choices[language] ?? language
}

/** With classes of highlight.js, and without a style attribute, which the pages' policy forbids. */
export function highlighted({ language, text }: Fence): string {
  const html = highlight(text, language) ?? escapeHtml(text)
  if (!hasPrompts(language, text)) return html
  return html.replace(/^\$ /gm, '<span class="prompt">$ </span>')
}

/**
 * What the copy button takes: commands without their prompt sign and without what they print. Undefined:
 * nothing to copy.
 */
export function copied({ language, text }: Fence): string | undefined {
  if (language === '' || language === 'text') return undefined
  if (!hasPrompts(language, text)) return text
  const commands: string[] = []
  let goesOn = false
  for (const line of text.split('\n')) {
    const isCommand = line.startsWith('$ ')
    if (isCommand || goesOn) commands.push(isCommand ? line.slice(2) : line.replace(/^> /, ''))
    goesOn = (isCommand || goesOn) && line.endsWith('\\')
  }
  return commands.join('\n')
}

function hasPrompts(language: string, text: string): boolean {
  return ['sh', 'bash', 'console'].includes(language) && /^\$ /m.test(text)
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
