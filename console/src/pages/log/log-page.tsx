import { Page } from '../../parts/page.tsx'

export function LogPage() {
  return <Page title="Log">{null}</Page>
}
