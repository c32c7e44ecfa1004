package io.varve.server.flash;

import java.io.IOException;

import io.varve.server.testing.FlashClients;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests commands on packed streams that were demoted to flash. Confined to the test's thread. */
@Timeout(60)
class FlashStreamsTest extends FlashClients {
    private void fill() throws IOException {
        for (int i = 1; i <= 5; i++) {
            expect(client, "XADD s " + i + "-1 f v" + i, i + "-1");
        }
        assertThat(client.call("XDEL", "s", "2-1").integer()).isEqualTo(1);
    }

    private String info() throws IOException {
        return client.command("XINFO", "STREAM", "s", "FULL");
    }

    @Test
    void demotedStreamsComeBack() throws IOException {
        fill();
        String info = info();
        String dump = client.call("DUMP", "s").text();
        server.drop("s");
        assertThat(info()).isEqualTo(info);
        server.drop("s");
        assertThat(client.call("DUMP", "s").text()).isEqualTo(dump);
        server.drop("s");
        expect(client, "TYPE s", "stream");
        server.drop("s");
        expect(client, "XADD s 6-1 f v6", "6-1");
        server.drop("s");
        assertThat(client.call("XLEN", "s").integer()).isEqualTo(5);
        server.drop("s");
        assertThat(client.call("XTRIM", "s", "MAXLEN", "2").integer()).isEqualTo(3);
        server.drop("s");
        assertThat(client.call("COPY", "s", "t").integer()).isEqualTo(1);
        server.drop("s", "t");
        assertThat(client.command("XRANGE", "t", "-", "+")).isEqualTo(client.command("XRANGE", "s", "-", "+"));
    }

    @Test
    void demotedStreamsGetGroups() throws IOException {
        fill();
        server.drop("s");
        expect(client, "XGROUP CREATE s g 0", "OK");
        assertThat(client.call("XREADGROUP", "GROUP", "g", "c", "COUNT", "2", "STREAMS", "s", ">").elements())
                .hasSize(1);
        assertThat(client.call("XACK", "s", "g", "1-1").integer()).isEqualTo(1);
        assertThat(client.call("XPENDING", "s", "g").elements().getFirst().integer()).isEqualTo(1);
    }

    @Test
    void digestsHaveDemotedStreams() throws IOException {
        fill();
        String digest = client.call("DEBUG", "DIGEST").text();
        server.drop("s");
        server.awaitWritten();
        assertThat(client.call("DEBUG", "DIGEST").text()).isEqualTo(digest);
    }
}
