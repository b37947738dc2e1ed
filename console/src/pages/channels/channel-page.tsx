import { Page } from '../../parts/page.tsx'

export function ChannelPage() {
  return <Page title="Channel">{null}</Page>
}
