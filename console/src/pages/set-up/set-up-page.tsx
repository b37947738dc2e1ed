import { Page } from '../../parts/page.tsx'

export function SetUpPage() {
  return <Page title="SetUp">{null}</Page>
}
