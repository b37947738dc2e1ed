import { Page } from '../../parts/page.tsx'

export function ModelPage() {
  return <Page title="Model">{null}</Page>
}
