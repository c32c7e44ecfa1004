package io.varve.server.flash;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import io.varve.server.testing.FlashClients;
import io.varve.server.testing.RawReply;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests hints for keys that were demoted to flash. Confined to the test's thread. */
@Timeout(60)
class FlashHintsTest extends FlashClients {
    @BeforeEach
    void track() throws IOException {
        expect(client, "CONFIG SET penalty-tracking yes", "OK");
    }

    /** The classes that have items in memory. */
    private List<Integer> classes() throws IOException {
        List<Integer> classes = new ArrayList<>();
        for (RawReply of : client.call("VARVE.CLASS", "LIST").elements()) {
            assertThat(of.elements().get(12).text()).isEqualTo("bytes");
            if (of.elements().get(13).integer() > 0) {
                classes.add(Integer.parseInt(of.elements().get(1).text()));
            }
        }
        return classes;
    }

    @Test
    void aKeyOnFlashIsFetchedForItsHint() throws IOException {
        expect(client, "SET key value EX 10000", "OK");
        expect(client, "RPUSH list a b", "2");
        server.drop("key", "list");
        assertThat(classes()).isEmpty();
        expect(client, "VARVE.CLASS SET key 9", "OK");
        assertThat(server.isInMemory(0, "key")).isTrue();
        assertThat(classes()).containsExactly(9);
        expect(client, "GET key", "value");
        expect(client, "PERSIST key", "1");
        expect(client, "VARVE.CLASS SET list 4", "OK");
        assertThat(classes()).containsExactly(4, 9);
        expect(client, "LLEN list", "2");
        expect(client, "VARVE.CLASS SET nosuch 4", "ERR no such key");
    }

    @Test
    void inATransactionToo() throws IOException {
        expect(client, "SET key value", "OK");
        server.drop("key");
        expect(client, "MULTI", "OK");
        expect(client, "VARVE.CLASS SET key 9", "QUEUED");
        expect(client, "VARVE.CLASS LIST", "QUEUED");
        List<RawReply> replies = client.call("EXEC").elements();
        assertThat(replies.getFirst().text()).isEqualTo("OK");
        assertThat(replies.get(1).elements()).hasSize(16);
        assertThat(classes()).containsExactly(9);
    }
}
