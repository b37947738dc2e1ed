import { Page } from '../../parts/page.tsx'

export function KeyPage() {
  return <Page title="Key">{null}</Page>
}
