import { Page } from '../../parts/page.tsx'

export function PlaygroundPage() {
  return <Page title="Playground">{null}</Page>
}
