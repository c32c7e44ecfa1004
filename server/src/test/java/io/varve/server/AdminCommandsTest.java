package io.varve.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.varve.server.config.ConfigReader;
import io.varve.server.config.Settings;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** CONFIG, INFO, CLIENT, OBJECT, SLOWLOG, LATENCY and DEBUG over a socket. Confined to the test's thread. */
class AdminCommandsTest {
    @TempDir
    Path folder;
    @RegisterExtension
    final ServerExtension server = ServerExtension.with("io-threads 1", "maxmemory 64mb");
    private RawClient client;

    @BeforeEach
    void connect() throws IOException {
        client = server.connect();
        assertThat(execute("PING")).isEqualTo("+PONG");
    }

    /** One reply, its line ends turned into blanks. */
    private String execute(String... words) throws IOException {
        String[] arguments = words.length == 1 ? words[0].split(" ") : words;
        return client.command(arguments).replace("\r\n", " ").strip();
    }

    // --- CONFIG

    @Test
    void configGetTakesNamesAndPatternsInAnyCase() throws IOException {
        assertThat(execute("CONFIG GET hz")).isEqualTo("*2 $2 hz $2 10");
        assertThat(execute("CONFIG GET HZ timeout nosuch")).isEqualTo("*4 $2 HZ $2 10 $7 timeout $1 0");
        assertThat(execute("CONFIG GET expire-bucket*")).isEqualTo("*4 $21 expire-bucket-base-ms $4 1000"
                + " $14 expire-buckets $3 120");
        assertThat(execute("CONFIG GET h? hz [h]z")).isEqualTo("*2 $2 hz $2 10");
        assertThat(execute("CONFIG GET nosuch*")).isEqualTo("*0");
        long shown = Settings.all().values().stream().filter(setting -> !setting.hidden()).count();
        long aliases = Settings.all().values().stream().filter(setting -> !setting.hidden())
                .filter(setting -> setting.alias() != null).count();
        assertThat(execute("CONFIG GET *")).startsWith("*" + 2 * (shown + aliases) + " ");
        assertThat(execute("HELLO 3")).startsWith("%7");
        assertThat(execute("CONFIG GET maxmemory")).isEqualTo("%1 $9 maxmemory $8 67108864");
    }

    @Test
    void configSetTakesAllOrNothing() throws IOException {
        assertThat(execute("CONFIG SET timeout 7 hz 20")).isEqualTo("+OK");
        assertThat(execute("CONFIG SET timeout 8 hz 0"))
                .isEqualTo("-ERR CONFIG SET failed (possibly related to argument"
                        + " 'hz') - argument must be between 1 and 500 inclusive");
        assertThat(execute("CONFIG SET timeout 8 databases 1")).isEqualTo("-ERR CONFIG SET failed (possibly related to"
                + " argument 'databases') - can't set immutable config");
        assertThat(execute("CONFIG SET maxclients 0")).endsWith("argument must be between 1 and 4294967295 inclusive");
        assertThat(execute("CONFIG SET enable-debug-command yes")).endsWith("can't set immutable config");
        assertThat(execute("CONFIG SET timeout 8 timeout 9")).contains("duplicate parameter");
        assertThat(execute("CONFIG SET timeout 8 nosuch 1")).contains("'nosuch'");
        assertThat(execute("CONFIG SET timeout 8 hz")).isEqualTo("-ERR syntax error");
        assertThat(execute("CONFIG GET timeout hz")).isEqualTo("*4 $2 hz $2 20 $7 timeout $1 7");
        assertThat(execute("CONFIG SET maxmemory 32mb maxmemory-policy allkeys-lru")).isEqualTo("+OK");
        assertThat(execute("CONFIG GET maxmemory")).isEqualTo("*2 $9 maxmemory $8 33554432");
    }

    @Test
    void configRewriteWritesTheFileThatWasRead() throws IOException {
        assertThat(execute("CONFIG REWRITE")).isEqualTo("-ERR The server is running without a config file");
        Path file = Files.write(folder.resolve("varve.conf"), List.of("# mine", "port 0", "io-threads 1",
                "maxmemory 64mb", "timeout 5"));
        try (VarveServer another = server.start(ConfigReader.read(List.of(file.toString())));
                RawClient other = server.connect(another)) {
            assertThat(other.command("CONFIG", "SET", "timeout", "6", "requirepass", "a b")).isEqualTo("+OK\r\n");
            assertThat(other.command("CONFIG", "REWRITE")).isEqualTo("+OK\r\n");
            assertThat(Files.readAllLines(file)).containsExactly("# mine", "port 0", "io-threads 1", "maxmemory 64mb",
                    "timeout 6", "# Added by CONFIG REWRITE", "requirepass \"a b\"");
            assertThat(other.command("INFO", "server")).contains("config_file:" + file + "\r\n");
        }
    }

    @Test
    void loglevelHasItsEffect() throws IOException {
        var logger = LoggerFactory.getLogger("io.varve.server.net.ConnectionHandler");
        try {
            assertThat(execute("CONFIG SET loglevel warning")).isEqualTo("+OK");
            assertThat(logger.isInfoEnabled()).isFalse();
            assertThat(logger.isWarnEnabled()).isTrue();
            assertThat(execute("CONFIG SET loglevel debug")).isEqualTo("+OK");
            assertThat(logger.isTraceEnabled()).isTrue();
        } finally {
            assertThat(execute("CONFIG SET loglevel notice")).isEqualTo("+OK");
        }
        assertThat(logger.isInfoEnabled()).isTrue();
        assertThat(logger.isDebugEnabled()).isFalse();
    }

    // --- INFO

    /** One section of INFO. */
    private Map<String, String> section(String section) throws IOException {
        Map<String, Map<String, String>> found = info(section);
        assertThat(found).hasSize(1);
        return found.values().iterator().next();
    }

    private Map<String, Map<String, String>> info(String... sections) throws IOException {
        String[] words = new String[sections.length + 1];
        words[0] = "INFO";
        System.arraycopy(sections, 0, words, 1, sections.length);
        String text = client.command(words);
        Map<String, Map<String, String>> found = new LinkedHashMap<>();
        Map<String, String> fields = Map.of();
        for (String line : text.substring(text.indexOf('\n') + 1).split("\r\n")) {
            if (line.startsWith("# ")) {
                fields = new LinkedHashMap<>();
                assertThat(found.put(line.substring(2), fields)).as(line).isNull();
            } else if (!line.isEmpty()) {
                int colon = line.indexOf(':');
                assertThat(colon).as(line).isPositive();
                assertThat(fields.put(line.substring(0, colon), line.substring(colon + 1))).as(line).isNull();
            }
        }
        return found;
    }

    @Test
    void infoHasItsSections() throws IOException {
        assertThat(info().keySet()).containsExactly("Server", "Clients", "Memory", "Persistence", "Stats",
                "Replication", "CPU", "Modules", "Errorstats", "Cluster", "Keyspace", "Varve");
        assertThat(info("all").keySet()).contains("Commandstats", "Latencystats");
        assertThat(info("MEMORY", "nosuch", "cpu").keySet()).containsExactly("Memory", "CPU");
        assertThat(section("server")).containsEntry("server_name", "varve")
                .containsEntry("tcp_port", Integer.toString(server.port()))
                .hasEntrySatisfying("redis_version", version -> assertThat(version).startsWith("7.4."));
    }

    private static void isNumber(String text) {
        assertThat(text).matches("\\d+(\\.\\d+)?");
    }

    @Test
    void everyDocumentedFieldIsANumber() throws IOException {
        Map<String, String> memory = section("memory");
        Map<String, String> varve = section("varve");
        Map<String, String> cpu = section("cpu");
        for (String field : List.of("used_memory", "used_memory_dataset", "used_memory_overhead",
                "allocator_allocated", "allocator_active", "allocator_resident", "allocator_frag_ratio",
                "used_memory_rss", "mem_fragmentation_ratio", "maxmemory")) {
            assertThat(memory).hasEntrySatisfying(field, AdminCommandsTest::isNumber);
        }
        assertThat(memory).containsEntry("mem_allocator", "offheap-segments").containsEntry("maxmemory",
                "67108864");
        for (String field : List.of("segment_size", "segments_in_use", "segments_free", "live_bytes", "dead_bytes",
                "segment_utilization", "index_bytes", "index_load_factor", "index_rehash_in_progress", "expiry_bytes",
                "expired_unreclaimed_items", "cleaner_segments_cleaned", "cleaner_bytes_moved", "cleaner_reclaim_cost",
                "cleaner_bytes_copied_per_byte_freed", "heap_used", "heap_max", "gc_pause_ms_total")) {
            assertThat(varve).hasEntrySatisfying(field, AdminCommandsTest::isNumber);
        }
        assertThat(varve).containsEntry("cleaner_policy", "modified");
        for (String field : List.of("used_cpu_sys", "used_cpu_user")) {
            assertThat(cpu).hasEntrySatisfying(field, seconds -> assertThat(Double.parseDouble(seconds)).isPositive());
        }
    }

    @Test
    void theKeyspaceCountsEachDatabase() throws IOException {
        assertThat(section("keyspace")).isEmpty();
        assertThat(execute("MSET a 1 b 2")).isEqualTo("+OK");
        assertThat(execute("SET c 3 EX 100")).isEqualTo("+OK");
        assertThat(execute("SELECT 3")).isEqualTo("+OK");
        assertThat(execute("SET a 1")).isEqualTo("+OK");
        Map<String, String> keyspace = section("keyspace");
        assertThat(keyspace.keySet()).isEqualTo(Set.of("db0", "db3"));
        assertThat(keyspace).hasEntrySatisfying("db0", text -> assertThat(text)
                .matches("keys=3,expires=1,avg_ttl=\\d+")).containsEntry("db3", "keys=1,expires=0,avg_ttl=0");
    }

    @Test
    void commandsAndErrorsAreCountedUntilReset() throws IOException {
        assertThat(execute("GET a")).isEqualTo("$-1");
        assertThat(execute("GET")).startsWith("-ERR");
        assertThat(execute("HINCRBY h f x")).startsWith("-ERR");
        Map<String, String> commands = section("commandstats");
        assertThat(commands.get("cmdstat_get"))
                .matches("calls=1,usec=\\d+,usec_per_call=[\\d.]+,rejected_calls=1,failed_calls=0");
        assertThat(commands.get("cmdstat_hincrby")).contains("calls=1,").endsWith("failed_calls=1");
        assertThat(section("errorstats")).containsEntry("errorstat_ERR", "count=2");
        assertThat(section("latencystats").get("latency_percentiles_usec_get"))
                .matches("p50=[\\d.]+,p99=[\\d.]+,p99.9=[\\d.]+");
        assertThat(execute("CONFIG RESETSTAT")).isEqualTo("+OK");
        assertThat(section("commandstats")).doesNotContainKey("cmdstat_get");
        assertThat(section("errorstats")).isEmpty();
    }

    /** The expected texts are those of Redis 7.0.15. */
    @Test
    void percentilesOfLatenciesAreCheckedAndShownShort() throws IOException {
        String name = "latency-tracking-info-percentiles";
        String error = "-ERR CONFIG SET failed (possibly related to argument '" + name + "') - ";
        assertThat(execute("GET a")).isEqualTo("$-1");
        for (String invalid : List.of("a", "10.0 foo", " 5 ", "nan", "1 ")) {
            assertThat(execute("CONFIG", "SET", name, invalid)).isEqualTo(error + "Invalid " + name + " parameters");
        }
        for (String outside : List.of("101.0", "-1")) {
            assertThat(execute("CONFIG", "SET", name, outside))
                    .isEqualTo(error + name + " parameters should sit between [0.0,100.0]");
        }
        assertThat(execute("CONFIG", "GET", name)).endsWith("$10 50 99 99.9");
        for (List<String> valid : List.of(List.of("0.0 50.0 100.0", "0 50 100"), List.of("50 99.9 1e1", "50 99.9 10"),
                List.of("50.123456789", "50.123457"), List.of("1e-5 99.999999999", "0.00001 100"), List.of("", ""))) {
            assertThat(execute("CONFIG", "SET", name, valid.getFirst())).isEqualTo("+OK");
            String shown = "*2 $33 " + name + " $" + valid.getLast().length() + " " + valid.getLast();
            assertThat(execute("CONFIG", "GET", name)).as(valid.getFirst()).isEqualTo(shown.strip());
        }
        assertThat(section("latencystats")).containsEntry("latency_percentiles_usec_get", "");
        assertThat(execute("CONFIG", "SET", name, "50.0")).isEqualTo("+OK");
        assertThat(section("latencystats").get("latency_percentiles_usec_get")).matches("p50=[\\d.]+");
    }

    // --- CLIENT

    @Test
    void aClientKnowsItself() throws IOException {
        assertThat(execute("CLIENT GETNAME")).isEqualTo("$-1");
        assertThat(execute("CLIENT SETNAME me")).isEqualTo("+OK");
        assertThat(execute("CLIENT GETNAME")).isEqualTo("$2 me");
        assertThat(execute("CLIENT", "SETNAME", "a b")).startsWith("-ERR Client names cannot contain");
        assertThat(execute("CLIENT SETINFO LIB-NAME lib")).isEqualTo("+OK");
        String id = execute("CLIENT ID").substring(1);
        assertThat(execute("CLIENT INFO")).contains("id=" + id + " addr=127.0.0.1:", " name=me ", " flags=N ", " db=0 ",
                " resp=2 ", " lib-name=lib ");
        assertThat(execute("CLIENT LIST ID " + id)).contains(" name=me ");
    }

    @Test
    void clientsAreKilledByTheirAttributes() throws IOException {
        try (RawClient victim = server.connect()) {
            String id = victim.command("CLIENT", "ID").substring(1).strip();
            assertThat(execute("CLIENT KILL ID " + id)).isEqualTo(":1");
            assertThat(victim.readToEnd()).isEmpty();
        }
        assertThat(execute("CLIENT KILL 127.0.0.1:1")).isEqualTo("-ERR No such client");
        assertThat(execute("CLIENT KILL ID x")).isEqualTo("-ERR client-id should be greater than 0");
        assertThat(execute("CLIENT KILL TYPE nosuch")).startsWith("-ERR Unknown client type");
        assertThat(execute("CLIENT KILL SKIPME yes TYPE pubsub")).isEqualTo(":0");
    }

    @Test
    void repliesCanBeSwitchedOff() throws IOException {
        client.send("CLIENT REPLY OFF\r\nPING\r\nCLIENT REPLY ON\r\nCLIENT REPLY SKIP\r\nPING\r\nECHO a\r\n");
        assertThat(client.reply()).isEqualTo("+OK\r\n");
        assertThat(client.reply()).isEqualTo("$1\r\na\r\n");
    }

    // --- OBJECT, MEMORY, DEBUG

    @Test
    void objectReportsTheEncoding() throws IOException {
        assertThat(execute("MSET n 12 s abc l " + "x".repeat(45))).isEqualTo("+OK");
        assertThat(execute("HSET h f v")).isEqualTo(":1");
        assertThat(execute("OBJECT ENCODING n")).isEqualTo("$3 int");
        assertThat(execute("OBJECT ENCODING s")).isEqualTo("$6 embstr");
        assertThat(execute("OBJECT ENCODING l")).isEqualTo("$3 raw");
        assertThat(execute("OBJECT ENCODING h")).isEqualTo("$8 listpack");
        assertThat(execute("OBJECT ENCODING nosuch")).isEqualTo("$-1");
        assertThat(execute("OBJECT REFCOUNT n")).isEqualTo(":1");
        // In whole seconds: the first may pass on a busy machine.
        assertThat(execute("OBJECT IDLETIME n")).isIn(":0", ":1", ":2");
        assertThat(execute("OBJECT FREQ n")).startsWith("-ERR An LFU maxmemory policy is not selected");
        assertThat(execute("DEBUG OBJECT h")).startsWith("+Value at:0x").contains(" refcount:1 encoding:listpack ");
        assertThat(execute("DEBUG OBJECT nosuch")).isEqualTo("-ERR no such key");
        long usage = Long.parseLong(execute("MEMORY USAGE n").substring(1));
        assertThat(usage).isBetween(20L, 80L);
        assertThat(execute("MEMORY USAGE nosuch")).isEqualTo("$-1");
        assertThat(execute("MEMORY USAGE n SAMPLES x")).startsWith("-ERR");
    }

    // --- SLOWLOG, LATENCY

    @Test
    void slowCommandsAreKept() throws IOException {
        assertThat(execute("CONFIG SET slowlog-log-slower-than 10000 slowlog-max-len 2 latency-monitor-threshold 5"))
                .isEqualTo("+OK");
        assertThat(execute("SLOWLOG RESET")).isEqualTo("+OK");
        assertThat(execute("LATENCY RESET")).startsWith(":");
        for (int i = 1; i <= 3; i++) {
            assertThat(execute("DEBUG SLEEP 0.02" + i)).isEqualTo("+OK");
        }
        assertThat(execute("SLOWLOG LEN")).isEqualTo(":2");
        assertThat(execute("SLOWLOG GET 1")).startsWith("*1 *6 :")
                .contains(" *3 $5 DEBUG $5 SLEEP $5 0.023 ", " 127.0.0.1:");
        assertThat(execute("SLOWLOG GET -1")).startsWith("*2 ");
        assertThat(execute("SLOWLOG GET -2")).startsWith("-ERR count should be greater than or equal to -1");
        assertThat(execute("LATENCY LATEST")).startsWith("*1 *4 $7 command :");
        assertThat(execute("LATENCY HISTORY command")).startsWith("*");
        assertThat(execute("LATENCY HISTORY nosuch")).isEqualTo("*0");
        assertThat(execute("LATENCY HISTOGRAM debug|sleep")).contains("$11 debug|sleep", "$5 calls :3");
        assertThat(execute("LATENCY RESET command")).isEqualTo(":1");
        assertThat(execute("LATENCY LATEST")).isEqualTo("*0");
        assertThat(execute("SLOWLOG RESET")).isEqualTo("+OK");
        assertThat(execute("SLOWLOG LEN")).isEqualTo(":0");
    }

    /** The lines that are not indented, as Redis has them: of the subcommands that are there, in its order. */
    @ParameterizedTest
    @CsvSource(delimiter = '=', value = {
            "MEMORY=DOCTOR;MALLOC-STATS;PURGE;STATS;USAGE <key> [SAMPLES <count>]",
            "CLIENT=CACHING (YES|NO);GETREDIR;GETNAME;ID;INFO;KILL <ip:port>;KILL <option> <value> [<option> <value> [...]];LIST [options ...];"
                    + "UNPAUSE;PAUSE <timeout> [WRITE|ALL];"
                    + "REPLY (ON|OFF|SKIP);SETNAME <name>;SETINFO <option> <value>;UNBLOCK <clientid> [TIMEOUT|ERROR];"
                    + "TRACKING (ON|OFF) [REDIRECT <id>] [BCAST] [PREFIX <prefix> [...]];TRACKINGINFO;"
                    + "NO-EVICT (ON|OFF);NO-TOUCH (ON|OFF)",
            "COMMAND=(no subcommand);COUNT;LIST;INFO [<command-name> ...];DOCS [<command-name> ...];"
                    + "GETKEYS <full-command>;GETKEYSANDFLAGS <full-command>",
            "CONFIG=GET <pattern>;SET <directive> <value>;RESETSTAT;REWRITE",
            "LATENCY=DOCTOR;GRAPH <event>;HISTORY <event>;LATEST;RESET [<event> ...];HISTOGRAM [COMMAND ...]",
            "SLOWLOG=GET [<count>];LEN;RESET", "OBJECT=ENCODING <key>;FREQ <key>;IDLETIME <key>;REFCOUNT <key>",
            "DEBUG=CHANGE-REPL-ID;DIGEST;DIGEST-VALUE <key> [<key> ...];ERROR <string>;LISTPACK <key>;LOADAOF;LOG <message>;"
                    + "OBJECT <key>;PAUSE-CRON <0|1>;POPULATE <count> [<prefix>] [<size>];PROTOCOL <type>;"
                    + "QUICKLIST-PACKED-THRESHOLD <size>;RELOAD [option ...];REPLICATE <string>;"
                    + "SET-ACTIVE-EXPIRE <0|1>;SLEEP <seconds>;STRINGMATCH-LEN <pattern> <string>"})
    void helpNamesWhatThereIsAsRedisDoes(String container, String usages) throws IOException {
        List<String> lines = client.command(container, "HELP").lines().skip(2)
                .map(line -> line.substring(1)).filter(line -> !line.startsWith(" ")).toList();
        assertThat(String.join(";", lines)).isEqualTo(usages + ";HELP");
    }

    @Test
    void debugObeysItsSetting() throws IOException {
        String refused = "-ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\","
                + " you can run it from a local connection, otherwise you need to set this option in the"
                + " configuration file, and then restart the server.\r\n";
        assertThat(execute("CONFIG GET enable-debug-command")).endsWith("$5 local");
        assertThat(execute("DEBUG SLEEP 0")).isEqualTo("+OK");
        try (VarveServer closed = server.start("maxmemory 64mb", "enable-debug-command no");
                RawClient other = server.connect(closed)) {
            assertThat(other.command("DEBUG", "SLEEP", "0")).isEqualTo(refused);
            assertThat(other.command("DEBUG", "SLEEP")).isEqualTo(refused);
            assertThat(other.command("DEBUG", "HELP")).isEqualTo(refused);
            assertThat(other.command("DEBUG", "nosuch")).isEqualTo(refused);
            assertThat(other.command("DEBUG"))
                    .isEqualTo("-ERR wrong number of arguments for 'debug' command\r\n");
        }
        try (VarveServer open = server.start("maxmemory 64mb", "enable-debug-command yes");
                RawClient other = server.connect(open)) {
            assertThat(other.command("DEBUG", "SLEEP", "0")).isEqualTo("+OK\r\n");
        }
    }

    @Test
    void everyContainerHelps() throws IOException {
        for (String container : List.of("CLIENT", "CONFIG", "OBJECT", "MEMORY", "DEBUG", "SLOWLOG", "LATENCY",
                "COMMAND")) {
            assertThat(execute(container + " HELP")).startsWith("*").contains("+" + container + " <subcommand>",
                    "+HELP");
            assertThat(execute(container + " nosuch")).isEqualTo("-ERR unknown subcommand 'nosuch'. Try " + container
                    + " HELP.");
        }
    }
}
