import type { BuildState } from './build.ts'
import { escapeHtml, type Site } from './site.ts'

/** How long a browser waits before it asks again, in seconds. */
export const askAgainSeconds = 2

/** A page that stands alone, for the time in which there are no others. */
export function notBuiltPage({ name, url }: Site, state: BuildState, nonce: string): string {
  const { title, lines } = wordsFor(state)
  const api = url === undefined ? '/v1' : `${url}/v1`
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    ${state.step === 'failed' ? '' : `<meta http-equiv="refresh" content="${askAgainSeconds}">`}
    <link rel="icon" href="/site/icon">
    <title>${escapeHtml(title)} · ${escapeHtml(name)}</title>
    <style nonce="${nonce}">
      body { margin: 0; font: 14px/20px system-ui, sans-serif; color: CanvasText; background: Canvas; }
      main { max-width: 560px; margin: 15vh auto 0; padding: 0 24px; }
      main > div { font-weight: 600; }
      h1 { font-size: 20px; line-height: 28px; }
      p { overflow-wrap: anywhere; }
    </style>
  </head>
  <body>
    <main>
      <div>${escapeHtml(name)}</div>
      <h1>${escapeHtml(title)}</h1>
      ${[...lines, `The API works ${state.step === 'failed' ? 'without them' : 'already'}: ${api} answers.`].map((line) => `<p>${escapeHtml(line)}</p>`).join('\n      ')}
    </main>
  </body>
</html>
`
}

function wordsFor(state: BuildState): { title: string; lines: string[] } {
  switch (state.step) {
    case 'building': {
      const seconds = Math.round((Date.now() - state.since) / 1_000)
      return {
        title: 'The pages are being built',
        lines: [
          'This happens once, after an installation or a change, and takes some seconds.',
          `${readSoFar(state.modules)}${seconds} s so far. This page asks again by itself.`,
        ],
      }
    }
    case 'failed':
      return { title: 'The pages are not built', lines: [state.reason] }
  }
}

function readSoFar(modules: number): string {
  return modules === 0 ? '' : `${modules.toLocaleString('en')} modules are read, `
}
