/** How bad a line says that it is. `info` stands for everything milder than a warning. */
export type LogLevel = 'fatal' | 'error' | 'warning' | 'info';

const LEVELS: Readonly<Record<LogLevel, string>> = {
  fatal: 'emerg emergency panic dpanic fatal ftl fata f',
  error: 'alert critical crit severe error err erro eror fail e',
  warning: 'warning warn wrn w',
  info: 'notice note info information informational inf i debug dbug dbg debu d trace trac trce trc verbose fine finer finest config log detail hint statement context default',
};
const BY_NAME: ReadonlyMap<string, LogLevel> = new Map(
  (Object.keys(LEVELS) as LogLevel[]).flatMap((level) =>
    LEVELS[level].split(' ').map((name) => [name, level] as const),
  ),
);

/** A level by its name in any case, or by the numbers of pino and bunyan; undefined: it is none. */
export function levelOf(name: string): LogLevel | undefined {
  if (!/^\d{2}$/.test(name)) return BY_NAME.get(name.toLowerCase());
  if (name < '40') return 'info';
  return name < '50' ? 'warning' : name < '60' ? 'error' : 'fatal';
}

/** Words that say that something went wrong, whatever stands around them. */
const STRONG =
  /\b(?:errors?|err|fatal|panic(?:ked)?|exceptions?|traceback|denied|refused|no space|cannot|can't|can not|could not|couldn't|fail(?:ed|ure|s)?|unable|uncaught|unhandled|timed? ?out|out of memory|already in use|no such|does not exist|doesn't exist|not permitted|not allowed|unauthorized|unauthenticated|forbidden|read-only file system|expired|unreachable|unbound variable|segmentation fault|core dumped|aborted|deadlock|unknown host|no route|reset by peer|broken pipe|too many|exhausted|E(?:CONN|NOT|ACC|NOENT|ADDR|NOSPC|PIPE|TIMEDOUT|PERM|HOST|ROFS|AI_)[A-Z]*)\b|[a-z]{2}(?:Error|Exception)\b/i;
/** Words that often name a trouble, and often only an option: enough for the last line of a program, not for a running one. */
const WEAK =
  /\b(?:undefined|not found|not set|missing|required|invalid|unrecognized|unsupported|not defined|illegal|mismatch)\b/i;
/** `0 errors`, `error=null`, `no error`, `error_page`, `/error/404`, `--fail-fast`, `if failed`, `on error`. */
const NO_TROUBLE =
  /\b(?:0|no|zero|without(?: any)?) (?:\w{1,20} )?(?:errors?|failures?|exceptions?|panics?|failed)\b|\b(?:errors?|err|failed|failures?|exceptions?|timeouts?|error_?count|num_?errors)["']?\s{0,3}[=:]\s{0,3}["']?(?:0|null|nil|none|false|<nil>|undefined|ok|""|''|\[\]|\{\})(?=$|[\s"',;})\]])|\b(?:error|fail|exception|timeout|panic)[-_ ]?(?:page|handlers?|handling|log|logs|level|reporting|rate|budget|fast|over|safe|back|file|document|threshold|tolerance)\b|\/(?:errors?|fail|failed|panic)\b|--?(?:on-)?(?:error|fail)\b|\b(?:if|on|when) (?:error|failed|failure)\b|\btimeout(?:s|=|:| is| of| set)/gi;

/** What a line without a level says by its words. */
export function troubleIn(text: string): 'strong' | 'weak' | undefined {
  if (!STRONG.test(text) && !WEAK.test(text)) return undefined;
  const rest = text.replace(NO_TROUBLE, ' ');
  if (STRONG.test(rest)) return 'strong';
  return WEAK.test(rest) ? 'weak' : undefined;
}
