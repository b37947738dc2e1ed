import { Page } from '../../parts/page.tsx'

export function GroupPage() {
  return <Page title="Group">{null}</Page>
}
