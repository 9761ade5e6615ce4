/** The severity that a line states. `info` stands for everything milder than a warning. */
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
  /\b(?:errors?|err|fatal|panic(?:ked)?|exceptions?|traceback|denied|refused|no space|cannot|can't|can not|could not|couldn't|fail(?:ed|ure|s)?|unable|uncaught|unhandled|timed? ?out|out of memory|already in use|no such|does not exist|doesn't exist|not permitted|not allowed|unauthorized|unauthenticated|forbidden|read-only file system|expired|unreachable|unbound variable|segmentation fault|core dumped|aborted|deadlock|unknown host|bad address|name or service not known|does not resolve|name resolution|no route|g(?:iving|ave|iven) up|reset by peer|broken pipe|too many|exhausted|E(?:CONN|NOT|ACC|NOENT|ADDR|NOSPC|PIPE|TIMEDOUT|PERM|HOST|ROFS|AI_)[A-Z]*)\b|[a-z]{2}(?:Error|Exception)\b/i;
/** The same in languages in which people write logs; a letter of any script may stand beside the edge of a word. */
const STRONG_ELSEWHERE = new RegExp(
  [
    `(?<!\\p{L})(?:${[
      'fehler|fehlgeschlagen|verweigert|abgelehnt|ausnahmefehler|zeitüberschreitung',
      'erreur|échec|échoué|refusée?|délai dépassé',
      'falló|fallido|denegad[ao]|rechazad[ao]|no se pudo|excepción',
      'erro|falha|falhou|negad[ao]|recusad[ao]|exceção',
      'errore|fallit[ao]|rifiutat[ao]|negat[ao]|eccezione',
      'mislukt|geweigerd|błąd|nie udało|odmowa',
      'ошибка|не удалось|отказано|исключение|сбой',
    ].join('|')})(?!\\p{L})`,
    '错误|失败|异常|拒绝|超时|無法|无法|錯誤|失敗|異常|逾時|エラー|例外|拒否|できません|오류|실패|예외|거부',
  ].join('|'),
  'iu',
);
const NO_TROUBLE_ELSEWHERE =
  /(?<!\p{L})(?:0|keine?|ohne|aucune?|sans|sin|sem|nessun|senza|geen|brak|bez|без|нет) (?:\p{L}{1,20} )?(?:fehler|erreurs?|errores|erros|errori|error|fouten|błędów|ошибок)|(?:没有|無|无|未发生|0 ?个?|0 ?個?)(?:错误|失败|异常|錯誤|失敗|異常|エラー|오류)|(?:错误|失败|异常|超时|錯誤|失敗|異常|エラー|오류|실패)(?:数|数量|次数|率|时间|なし|件数|数は|없음)?\s{0,3}[:：=]?\s{0,3}(?:0(?![\d.])|なし|없음|无|無)/giu;
/** Each of the words above has one of these, so most lines need no further search. */
const MAY_BE_ELSEWHERE =
  /[^\0-\x7f]|fehl|verweig|abgel|erreur|refus|fall|deneg|rechaz|no se pudo|erro|falh|negad|recus|rifiut|negat|eccez|mislukt|geweig|odmowa/i;

/** Words that often name a trouble, and often only an option: enough for the last line of a program, not for a running one. */
const WEAK =
  /\b(?:undefined|not found|not set|missing|required|invalid|unrecognized|unsupported|not defined|illegal|mismatch)\b/i;
/** `0 errors`, `error=null`, `no error`, `error_page`, `/error/404`, `--fail-fast`, `if failed`, `on error`. */
const NO_TROUBLE =
  /^(?:SLF4J: |(?:NOTE: )?Picked up \w{0,20}JAVA_(?:\w{1,20}_)?OPTIONS: ).*|\b(?:0|no|zero|without(?: any)?) (?:\w{1,20} )?(?:errors?|failures?|exceptions?|panics?|failed)\b|\b(?:errors?|err|failed|failures?|exceptions?|timeouts?|error_?count|num_?errors)["']?\s{0,3}[=:]\s{0,3}["']?(?:0|null|nil|none|false|<nil>|undefined|ok|""|''|\[\]|\{\})(?=$|[\s"',;})\]])|\b(?:error|fail|exception|timeout|panic)[-_ ]?(?:page|handlers?|handling|log|logs|level|reporting|rate|budget|fast|over|safe|back|file|document|threshold|tolerance)\b|\/(?:errors?|fail|failed|panic)\b|--?(?:on-)?(?:error|fail)\b|\b(?:if|on|when) (?:error|failed|failure)\b|\btimeout(?:s|=|:| is| of| set)/gi;

/** Clients that go away or ask for what is not there: whatever level a server gives it, it is no trouble of the server. */
const OF_CLIENTS =
  /open\(\) "[^"]{1,2048}" failed \(2: No such file or directory\), client: |while SSL handshaking, client: |TLS handshake error from \S{1,80}: (?:EOF|.{0,120}connection reset by peer|.{0,40}first record does not look like a TLS handshake)|Unable to read additional data from client|client (?:has |prematurely |unexpectedly )?(?:closed (?:the )?(?:socket|connection|stream)|disconnected)|ClientAbortException|IP address '[^']{1,60}' could not be resolved|Got an error reading communication packets|This connection closed normally without authentication/i;

export const isOfClients = (text: string): boolean => OF_CLIENTS.test(text);

/** It ended for good, or was given up: that nothing more is said of it is no good news. */
const FINAL =
  /\b(?:uncaught|unhandled)[ _-]?(?:\w{1,20} ?)?(?:exception|error|rejection)|\bException in thread |\b(?:giving|gave|given) up\b|\b(?:consumer|listener|loop|process|subscription|task|thread|worker)\b.{0,30}\bterminated\b|\buntil (?:the next |a )?restart|\bshutting down (?:the |\w{1,20} )?(?:consumer|listener|thread|worker)|\bwill (?:not|never|no longer) be\b/i;

export const isFinal = (text: string): boolean => FINAL.test(text);

/** Judges a line without a level by its words. */
export function troubleIn(text: string): 'strong' | 'weak' | undefined {
  if (isStrongElsewhere(text)) return 'strong';
  if (!STRONG.test(text) && !WEAK.test(text)) return undefined;
  const rest = text.replace(NO_TROUBLE, ' ');
  if (STRONG.test(rest)) return 'strong';
  return WEAK.test(rest) ? 'weak' : undefined;
}

const isStrongElsewhere = (text: string): boolean =>
  MAY_BE_ELSEWHERE.test(text) &&
  STRONG_ELSEWHERE.test(text) &&
  STRONG_ELSEWHERE.test(text.replace(NO_TROUBLE_ELSEWHERE, ' '));
