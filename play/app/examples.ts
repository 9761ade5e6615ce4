import type { Example } from '../page/contract.ts';
import { WITHOUT_BOT } from './team.ts';

/** The main job of design, section 1; the tour of the terminal begins with its shortest form. */
export const MAIN_JOB = '/kdebug pod-1234 --image=autodiagnose';

export const ROY = '/kdebug nginx-pod-1234 --image=autodiagnose';
export const JONAS = '/kdebug neato-5thn0 --image=debian --target=neato -- cat /proc/1/root/etc/resolv.conf';
export const THURSTON =
  '/kdebug neato-5x9k3 --image=debugger --profile=sysadmin --reason="hang" -- gdb -p 1 -batch -ex bt';
const GINGER = '/kdebug --all -n shop --image=security-audit --parallelism=8 -- /security-audit.sh';
/** What its diagnosis leads to: the stacks of a deadlock, by a button. */
const STUCK = '/kdebug orders-stuck-0 --image=autodiagnose';
const FLAME = '/kdebug search-slow-0 --image=profile';
const COMPARE = '/kdebug compare neato-5x9k3 -n shop';
const WATCH = '/kdebug watch cart-leaky-0 --when="memory>80%" --for=10m';
/** Questions about what does not run: kept apart from the shop, whose pods all do. */
const JOB = '/kdebug job/nightly-report -n backoffice';
const CRASH = '/kdebug deployment/mailer -n backoffice';
const UNSCHEDULED = '/kdebug deployment/importer -n backoffice';
const QUOTA = '/kdebug deployment/invoices -n backoffice';
const SHOUTS = '/kdebug deployment/stock-sync -n backoffice';
const GUEST = MAIN_JOB;

const CHANNEL = 'C0SHOP';

const TOLD: readonly (Omit<Example, 'then'> & { readonly next: string })[] = [
  {
    id: 'roy',
    title: 'A first look at a pod',
    story: 'Roy is on support and may only look. A customer says that the shop is slow.',
    user: 'U0ROY',
    channel: CHANNEL,
    text: ROY,
    next: 'Send it. A debug container appears in the pod beside. What is wrong, and what to do next, is on the card and in its thread; the button finds the function. neato-5thn0 is a pod that is well.',
  },
  {
    id: 'jonas',
    title: 'Into a pod without a shell',
    story: 'Jonas is in operations. The image is distroless: no shell, no cat, nothing to exec.',
    user: 'U0JONAS',
    channel: CHANNEL,
    text: JONAS,
    next: 'Send it. The file of the running container is in the thread, and the pod was not restarted.',
  },
  {
    id: 'thurston',
    title: 'More than anyone may have alone',
    story: 'Thurston is a developer. His process hangs, and a debugger needs privileges.',
    user: 'U0THURSTON',
    channel: CHANNEL,
    text: THURSTON,
    next: 'Send it, then look at the red numbers at the bottom left: the approvers were notified. Become Bob and press Approve on the card. Ginger could not: she is not one of the approvers. Carol is one, but not in this channel: she has the card in a direct message.',
  },
  {
    id: 'ginger',
    title: 'The same audit in every pod',
    story: 'Ginger is in security and wants one answer from all pods of a namespace.',
    user: 'U0GINGER',
    channel: CHANNEL,
    text: GINGER,
    next: 'Send it. One dashboard follows all pods, equal results stand together, and one file has every pod’s answer. Its buttons pause it, change its size and run the failed pods again.',
  },
  {
    id: 'stuck',
    title: 'From a symptom to the cause',
    story: 'Orders are no longer accepted. Roy wants to know what the process waits for.',
    user: 'U0ROY',
    channel: CHANNEL,
    text: STUCK,
    next: 'Send it. Nothing is wrong outside the program, so the answer has the button that shows its threads. Press it: two threads wait for each other, and threads.txt has them all.',
  },
  {
    id: 'flame',
    title: 'Where the CPU time goes',
    story: 'The search is at its CPU limit all the time. Jonas wants the function, not the number.',
    user: 'U0JONAS',
    channel: CHANNEL,
    text: FLAME,
    next: 'Send it. The thread names the function and shows the flame graph; View makes it large. A diagnosis of the same pod has a button for this.',
  },
  {
    id: 'watch',
    title: 'The next death, seen from beside',
    story: 'The cart was killed for memory again last night. Jonas wants to be there the next time.',
    user: 'U0JONAS',
    channel: CHANNEL,
    text: WATCH,
    next: 'Send it. The watch takes the stacks as the memory passes 80%, and waits on. Then Make it worse, Kill it for memory, for cart-leaky-0: the thread says in which function it died.',
  },
  {
    id: 'compare',
    title: 'The sick pod beside a healthy one',
    story: 'One of the two pods of neato hangs. Thurston asks what only that one has.',
    user: 'U0THURSTON',
    channel: CHANNEL,
    text: COMPARE,
    next: 'Send it. Both pods are looked at together, and the answer names only what differs.',
  },
  {
    id: 'job',
    title: 'A Job that failed',
    story: 'The report of the night is missing. Its Job is over, so there is nothing left to look into.',
    user: 'U0ROY',
    channel: CHANNEL,
    text: JOB,
    next: 'Send it. The answer has the last words of the program. Nothing was started in the cluster.',
  },
  {
    id: 'crash',
    title: 'A crash loop',
    story: 'No mail goes out. The mailer starts, ends and starts again.',
    user: 'U0ROY',
    channel: CHANNEL,
    text: CRASH,
    next: 'Send it. The answer says what the mailer said before it ended.',
  },
  {
    id: 'unscheduled',
    title: 'A pod that no node takes',
    story: 'The importer was moved to faster disks this morning and has not run since.',
    user: 'U0JONAS',
    channel: CHANNEL,
    text: UNSCHEDULED,
    next: 'Send it. The answer says what the scheduler looks for and no node has.',
  },
  {
    id: 'quota',
    title: 'A Deployment without pods',
    story: 'Thurston has deployed the invoices, and no pod appears.',
    user: 'U0THURSTON',
    channel: CHANNEL,
    text: QUOTA,
    next: 'Send it. The answer names the quota that keeps the pods from being made.',
  },
  {
    id: 'shouts',
    title: 'A pod that looks well',
    story: 'The stock has not changed for an hour. The pod runs, is ready and has never restarted.',
    user: 'U0ROY',
    channel: CHANNEL,
    text: SHOUTS,
    next: 'Send it. The answer has what the program writes again and again into its own log.',
  },
  {
    id: 'invite',
    title: 'A channel without kdebug',
    story: 'Jonas tries it in #payments, and nobody has let kdebug in there yet.',
    user: 'U0JONAS',
    channel: WITHOUT_BOT,
    text: MAIN_JOB,
    next: 'Send it. Only Jonas is told what to do, and nothing is started. Type /invite @kdebug, then try again: arrow up brings the command back.',
  },
  {
    id: 'refused',
    title: 'Somebody who may not',
    story: 'A guest of the workspace has found the command that Roy uses.',
    user: 'U0GUEST',
    channel: CHANNEL,
    text: GUEST,
    next: 'Send it. One private answer says why not, and nothing reaches the cluster.',
  },
];

/** The guided start: what the people of design, section 1, type on the local cluster. */
export const EXAMPLES: readonly Example[] = TOLD.map(({ next, ...example }) => ({
  ...example,
  // biome-ignore lint/suspicious/noThenProperty: the contract's word; a text is never taken for a promise.
  then: next,
}));
