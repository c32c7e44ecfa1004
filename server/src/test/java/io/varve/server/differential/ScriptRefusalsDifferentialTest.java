package io.varve.server.differential;

import java.io.IOException;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.ReferenceRedis;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Scripts and functions that Varve and a real Redis refuse by their flags, and the statistics of their errors. Confined
 * to the test's thread.
 */
@Timeout(120)
class ScriptRefusalsDifferentialTest {
    private static final String READS = "#!lua flags=no-writes\nreturn redis.call('get', 'x')";
    private static final String NO_FLAGS = "#!lua\nreturn redis.call('get', 'x')";
    private static final String ALLOWS_OOM = "#!lua flags=allow-oom\nreturn 1";
    private static final String ALLOWS_STALE = "#!lua flags=allow-stale,no-writes\nreturn redis.call('get', 'x')";
    private static final String LIBRARY = """
            #!lua name=lib
            redis.register_function{function_name='reads', callback=function() return 1 end, flags={'no-writes'}}
            redis.register_function('writes', function() return redis.call('set', 'x', 1) end)""";
    private static final Pattern STATISTIC = Pattern.compile("(?:cmdstat_(?!config|info|ping)[^:]+:calls=(\\d+),usec=.*"
            + "rejected_calls=\\d+,failed_calls=\\d+|errorstat_.*|total_error_replies:.*)\r\n");

    @RegisterExtension
    final ServerExtension varve = ServerExtension.with("maxmemory 64mb");

    private ReferenceRedis reference;
    private RawClient redis;
    private RawClient ours;

    @BeforeEach
    void start() throws IOException, InterruptedException {
        reference = ReferenceRedis.startWith();
        redis = new RawClient(reference.port());
        ours = varve.connect();
    }

    @AfterEach
    void close() throws IOException {
        ours.close();
        redis.close();
        reference.close();
    }

    /** Runs a command on both servers, and compares replies and statistics. */
    private String same(String... command) throws IOException {
        both("CONFIG", "RESETSTAT");
        String reply = both(command);
        List<String> expected = statistics(redis);
        assertThat(statistics(ours)).as("statistics of %s, which replied %s", List.of(command), reply)
                .isEqualTo(expected);
        return reply;
    }

    private String both(String... command) throws IOException {
        String expected = redis.command(command);
        assertThat(ours.command(command)).as("%s", List.of(command)).isEqualTo(expected);
        return expected;
    }

    private static List<String> statistics(RawClient client) throws IOException {
        return STATISTIC.matcher(client.command("INFO", "everything")).results().map(MatchResult::group)
                .map(line -> line.replaceAll("usec.*(?=rejected)", "")).sorted().toList();
    }

    private void allScripts() throws IOException {
        same("EVAL", "return redis.call('get', 'x')", "1", "x");
        same("EVAL", "return redis.call('set', 'x', 1)", "1", "x");
        same("EVAL", "return redis.pcall('set', 'x', 1)", "1", "x");
        same("EVAL", READS, "1", "x");
        same("EVAL", NO_FLAGS, "1", "x");
        same("EVAL_RO", READS, "1", "x");
        same("EVAL_RO", NO_FLAGS, "1", "x");
        same("EVAL", ALLOWS_OOM, "0");
        same("EVAL", ALLOWS_STALE, "0");
        same("EVALSHA", "0123456789012345678901234567890123456789", "0");
        same("FCALL", "reads", "0");
        same("FCALL", "writes", "0");
        same("FCALL_RO", "writes", "0");
        same("FCALL", "none", "0");
    }

    private void inTransactions(String script) throws IOException {
        both("MULTI");
        both("EVAL", script, "0");
        both("CONFIG", "RESETSTAT");
        assertThat(ours.command("EXEC")).isEqualTo(redis.command("EXEC"));
        assertThat(statistics(ours)).as(script).isEqualTo(statistics(redis));
    }

    @Test
    void withoutMemory() throws IOException {
        both("SET", "x", "y");
        both("FUNCTION", "LOAD", LIBRARY);
        both("CONFIG", "SET", "maxmemory", "1");
        allScripts();
    }

    @Test
    void withoutReplicas() throws IOException {
        both("SET", "x", "y");
        both("FUNCTION", "LOAD", LIBRARY);
        both("CONFIG", "SET", "min-replicas-to-write", "1");
        allScripts();
        inTransactions(READS);
        inTransactions(NO_FLAGS);
    }

    @Test
    void onAReplicaWithoutPrimary() throws IOException {
        both("SET", "x", "y");
        both("FUNCTION", "LOAD", LIBRARY);
        both("REPLICAOF", "127.0.0.1", "1");
        allScripts();
        both("CONFIG", "SET", "replica-serve-stale-data", "no");
        allScripts();
        inTransactions(ALLOWS_STALE);
    }

    @Test
    void errorsOfScripts_countOnce() throws IOException {
        both("SET", "x", "y");
        List<String> scripts = List.of("return redis.call('lpush', 'x', 1)", "return redis.pcall('lpush', 'x', 1)",
                "redis.pcall('lpush', 'x', 1) return 1", "return redis.call('select', 99)", "return redis.call('nope')",
                "return redis.error_reply('MINE of a script')", "return {1, redis.error_reply('MINE'), 2}",
                "return {err='-OTHER x'}", "error({err='-OTHER x'})", "return redis.error_reply('-OTHER x')",
                "error('text')", "error(redis.error_reply('MINE x'))",
                "error({err='PLAIN x'})", "return nil + 1", "return redis.pcall()",
                "local e = redis.pcall('lpush', 'x', 1) error(e)", "return redis.status_reply('MINE x')",
                "return {err='x', ignore_error_stats_update=true}", "return {{err='A x'}, {err='B x'}}");
        for (String script : scripts) {
            same("EVAL", script, "1", "x");
            inTransactions(script);
        }
        same("EVAL_RO", "return redis.call('set', 'x', 1)", "1", "x");
        same("EVAL_RO", "return redis.pcall('set', 'x', 1)", "1", "x");
        same("EVAL", "return", "1");
        same("EVAL", "return =", "0");
    }
}
