package io.varve.server.command.stream;

import java.io.IOException;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests which stream commands fail the transactions of clients that watch the stream: as in Redis, those that change
 * entries, and not those that change groups or the last ID. Confined to the test's thread.
 */
@Timeout(60)
class WatchedStreamsTest {
    @RegisterExtension
    final ServerExtension server = ServerExtension.with("maxmemory 64mb");
    private RawClient client;
    private RawClient other;

    @BeforeEach
    void connect() throws IOException {
        client = server.connect();
        other = server.connect();
        for (int i = 1; i <= 8; i++) {
            other.call("XADD", "s", i + "-1", "f", "v");
        }
    }

    private void fails(String words, boolean expected) throws IOException {
        assertThat(client.call("WATCH", "s", "absent").text()).isEqualTo("OK");
        assertThat(other.command(words.split(" "))).as(words).doesNotStartWith("-");
        assertThat(client.call("MULTI").text()).isEqualTo("OK");
        assertThat(client.call("PING").text()).isEqualTo("QUEUED");
        assertThat(client.call("EXEC").isNull()).as(words).isEqualTo(expected);
    }

    @Test
    void changesOfEntries_failATransaction() throws IOException {
        fails("XADD s 9-1 f v", true);
        fails("XDEL s 1-1", true);
        fails("XDEL s 1-1", false);
        fails("XTRIM s MAXLEN 6", true);
        fails("XTRIM s MAXLEN 6", false);
        fails("XGROUP CREATE absent g 0 MKSTREAM", true);
    }

    @Test
    void changesOfGroupsAndIds_doNot() throws IOException {
        fails("XSETID s 100-0", false);
        fails("XGROUP CREATE s g 0", false);
        fails("XGROUP SETID s g 0", false);
        fails("XGROUP CREATECONSUMER s g c", false);
        fails("XREADGROUP GROUP g c COUNT 3 STREAMS s >", false);
        fails("XACK s g 1-1", false);
        fails("XCLAIM s g d 0 2-1", false);
        fails("XAUTOCLAIM s g e 0 -", false);
        fails("XGROUP DELCONSUMER s g c", false);
        fails("XGROUP DESTROY s g", false);
    }
}
