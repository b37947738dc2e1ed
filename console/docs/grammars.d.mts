/** HTML with the classes of highlight.js; undefined: it does not know the language. */
export function highlight(text: string, language: string): string | undefined
