declare module 'virtual:docs' {
  export interface PageLink {
    route: string
    path: string
    title: string
    load(): Promise<{ default: DocPage }>
  }

  export interface DocPage {
    title: string
    /** Made by us at build time: tags in a document's text are escaped. */
    html: string
    headings: { level: number; id: string; text: string }[]
  }

  export const groups: { title: string; pages: PageLink[] }[]
  export const searchUrl: string
}

declare module 'virtual:snippets' {
  type Snippet = import('../docs/snippets.ts').Snippet
  export type SnippetKind = import('../docs/snippets.ts').SnippetKind
  export const snippets: Readonly<Record<SnippetKind, readonly (Snippet & { html: string })[]>>
}

declare module 'virtual:settings' {
  type Field = import('./parts/fields.ts').Field
  interface Form {
    /** The settings that the API takes. */
    names: readonly string[]
    sections: readonly {
      title: string
      about?: string
      fields: readonly (Field & { suggests?: 'models' | 'channels' })[]
    }[]
  }

  export const forms: Readonly<Record<'key' | 'group' | 'tenant' | 'channel' | 'model', Form>>
}
