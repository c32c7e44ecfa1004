package io.varve.server.flash;

import java.io.IOException;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.varve.server.testing.FlashClients;
import io.varve.server.testing.RawReply;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests scripts and functions whose keys were demoted to flash. Confined to the test's thread. */
@Timeout(60)
class FlashScriptsTest extends FlashClients {
    private String eval(String script, String... words) throws IOException {
        String[] call = new String[words.length + 2];
        call[0] = "EVAL";
        call[1] = script;
        System.arraycopy(words, 0, call, 2, words.length);
        return client.call(call).text();
    }

    private void demoted(String... keys) throws IOException {
        for (String key : keys) {
            expect(client, "SET " + key + " 1", "OK");
        }
        server.drop(keys);
    }

    @Test
    void declaredKeys_areFetched() throws IOException {
        demoted("a", "b");
        assertThat(eval("redis.call('incr', KEYS[1]) return redis.call('get', KEYS[2])", "2", "a", "b")).isEqualTo("1");
        expect(client, "GET a", "2");
    }

    @Test
    void otherKeys_areFetchedBeforeTheFirstWrite() throws IOException {
        demoted("a", "b");
        assertThat(eval("local sum = 0 for _, key in ipairs({'a', 'b'}) do sum = sum + redis.call('get', key) end"
                + " redis.call('set', 'a', sum) return sum", "0")).isEqualTo("2");
        expect(client, "GET a", "2");
    }

    /** A limiter asks for the time first, and another database is selected for one run alone. */
    @Test
    void otherKeys_areFetchedAfterCommandsWithoutEffects() throws IOException {
        demoted("a");
        assertThat(eval("redis.call('time') redis.call('select', 1) redis.call('select', 0) redis.call('ping')"
                + " return redis.call('get', 'a')", "0")).isEqualTo("1");
    }

    /** The script cannot run again: it would send the message again. */
    @Test
    void otherKeys_areAwaitedAfterAMessage() throws IOException {
        demoted("a");
        assertThat(eval("redis.call('publish', 'channel', 'x') return redis.call('get', 'a')", "0")).isEqualTo("1");
    }

    @Test
    void otherKeys_areAwaitedAfterAWrite() throws IOException {
        demoted("a", "c", "d");
        assertThat(eval("redis.call('set', 'b', 1) return redis.call('get', 'a')", "0")).isEqualTo("1");
        assertThat(eval("redis.call('set', 'b', 2) redis.call('incr', 'c') return redis.call('mget', 'c', 'd')[1]",
                "1", "b")).isEqualTo("2");
        for (String[] key : new String[][] {{"a", "1"}, {"b", "2"}, {"c", "2"}, {"d", "1"}}) {
            isInOneTier(key[0], key[1]);
        }
    }

    /** A key that returned from flash is not there any more. */
    private void isInOneTier(String key, String value) throws IOException {
        expect(other, "GET " + key, value);
        expect(other, "DEL " + key, "1");
        expect(other, "EXISTS " + key, "0");
    }

    /** A script does not begin again for each of them. */
    @ParameterizedTest
    @ValueSource(strings = {"", "redis.call('set', 'written', 1)"})
    void manyOtherKeys_areFoundOneAfterTheOther(String before) throws IOException {
        int count = 300;
        client.setKeys("key:", count, "1");
        server.drop(IntStream.range(0, count).mapToObj(i -> "key:" + i).toArray(String[]::new));
        assertThat(eval(before + " local sum = 0 for i = 0, 299 do sum = sum + #redis.call('get', 'key:' .. i) end"
                + " return sum", "0")).isEqualTo(Integer.toString(IntStream.range(0, count)
                        .map(i -> 1 + Integer.toString(i).length()).sum()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "redis.call('set', 'written', 1)"})
    void keysOfAnotherDatabase_areFound(String before) throws IOException {
        expect(client, "SELECT 1", "OK");
        expect(client, "SET a one", "OK");
        expect(client, "SELECT 0", "OK");
        expect(client, "SET a zero", "OK");
        server.drop(1, "a");
        assertThat(eval(before + " return redis.call('move', KEYS[1], 1)", "1", "a")).isEqualTo("0");
        server.drop(1, "a");
        assertThat(eval(before + " return redis.call('copy', 'a', 'a', 'DB', 1)", "0")).isEqualTo("0");
        server.drop(1, "a");
        assertThat(eval(before + " redis.call('select', 1) return redis.call('get', 'a')", "0")).isEqualTo("one");
        assertThat(eval(before + " return redis.call('move', 'none', 1)", "0")).isEqualTo("0");
        server.drop(1, "a");
        assertThat(eval("redis.call('append', KEYS[1], '') return redis.call('move', KEYS[1], 1)", "1", "a"))
                .isEqualTo("0");
        expect(client, "GET a", "zero");
    }

    @Test
    void declaredKeysOfAnotherDatabase_areFound() throws IOException {
        int count = 10;
        String[] names = IntStream.range(0, count).mapToObj(i -> "key:" + i).toArray(String[]::new);
        expect(client, "SELECT 1", "OK");
        client.setKeys("key:", count, "1");
        server.drop(1, names);
        expect(client, "SELECT 0", "OK");
        assertThat(eval("redis.call('select', 1) local sum = 0"
                + " for _, key in ipairs(KEYS) do sum = sum + #redis.call('get', key) end return sum",
                Stream.concat(Stream.of(Integer.toString(count)), Stream.of(names)).toArray(String[]::new)))
                .isEqualTo(Integer.toString(2 * count));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "redis.call('set', 'written', 1)"})
    void keysOfByAndGet_areFound(String before) throws IOException {
        expect(client, "RPUSH list 1 2 3", "3");
        expect(client, "MSET weight1 3 weight2 1 weight3 2 name1 a name2 b name3 c", "OK");
        server.drop("list", "weight1", "weight2", "weight3", "name1", "name2", "name3");
        assertThat(eval(before + " return table.concat(redis.call('sort', 'list', 'BY', 'weight*', 'GET', 'name*'))",
                "0")).isEqualTo("bca");
    }

    @Test
    void scriptsInTransactions_waitForOtherKeys() throws IOException {
        demoted("a", "b", "c");
        expect(client, "MULTI", "OK");
        expect(client, "EVAL return(redis.call('incr','a')) 0", "QUEUED");
        expect(client, "SET d 1", "QUEUED");
        expect(client, "EVAL return(redis.call('incr','b')) 0", "QUEUED");
        expect(client, "EVAL return(redis.call('incr',KEYS[1])) 1 c", "QUEUED");
        assertThat(client.call("EXEC").elements()).extracting(RawReply::text).containsExactly("2", "OK", "2", "2");
    }

    @Test
    void commandsThatWaitForFlash_areRefused() throws IOException {
        demoted("a");
        assertThat(client.call("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function(keys, args)"
                + " return redis.call(unpack(args)) end)").text()).isEqualTo("lib");
        for (String words : List.of("SCAN 0", "KEYS *", "DBSIZE", "RANDOMKEY", "FLUSHDB", "FLUSHALL", "SWAPDB 0 1")) {
            String refused = "ERR This Redis command is not allowed from script: it waits for the flash tier";
            assertThat(client.command(("FCALL f 0 " + words).split(" "))).as(words).contains(refused);
            assertThat(client.command(("EVAL return(redis.call(unpack(ARGV))) 0 " + words).split(" "))).as(words)
                    .contains(refused);
        }
        expect(client, "GET a", "1");
    }

    @Test
    void functions_findTheirKeys() throws IOException {
        demoted("a", "b");
        assertThat(client.call("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function(keys, args)"
                + " return redis.call('get', keys[1]) + redis.call('get', 'b') end)").text()).isEqualTo("lib");
        assertThat(client.call("FCALL", "f", "1", "a").integer()).isEqualTo(2);
    }
}
