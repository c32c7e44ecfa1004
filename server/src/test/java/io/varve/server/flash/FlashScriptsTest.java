package io.varve.server.flash;

import java.io.IOException;
import java.util.List;

import io.varve.server.testing.FlashClients;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

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
        server.drop("a");
        assertThat(eval("redis.call('publish', 'channel', 'x') return redis.call('get', 'a')", "0"))
                .startsWith("ERR a key that the script does not declare is on flash");
    }

    @Test
    void otherKeys_areRefusedAfterAWrite() throws IOException {
        demoted("a");
        assertThat(eval("redis.call('set', 'b', 1) return redis.call('get', 'a')", "0"))
                .startsWith("ERR a key that the script does not declare is on flash");
        assertThat(eval("redis.call('set', 'b', 2) return redis.pcall('get', 'a').err", "0"))
                .startsWith("ERR a key that the script does not declare is on flash");
        expect(client, "GET b", "2");
        expect(client, "GET a", "1");
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
