package io.varve.experiments.wire;

import java.util.List;

import io.varve.experiments.wire.RespValue.Absent;
import io.varve.experiments.wire.RespValue.Array;
import io.varve.experiments.wire.RespValue.Text;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Parses replies with their structure, as both protocols send them. Confined to the test's thread, except the server's.
 */
final class RespValueTest {
    private static RespValue read(String reply) throws Exception {
        try (CannedServer server = new CannedServer(reply)) {
            return server.classList();
        }
    }

    @Test
    void everyShapeOfBothProtocolsIsRead() throws Exception {
        assertThat(read("*5\n:1\n$3\nabc\n$-1\n*-1\n*1\n+OK\n")).isEqualTo(new Array(List.of(new Text("1"),
                new Text("abc"), new Absent(), new Absent(), new Array(List.of(new Text("OK"))))));
        assertThat(read("*5\n,1.5\n_\n#t\n=7\ntxt:abc\n~1\n(12345678901234567890\n"))
                .isEqualTo(new Array(List.of(new Text("1.5"), new Absent(), new Text("t"), new Text("abc"),
                        new Array(List.of(new Text("12345678901234567890"))))));
        assertThat(read("%2\n$1\na\n:1\n$1\nb\n_\n")).as("a map is its keys and values in turn")
                .isEqualTo(read("*4\n$1\na\n:1\n$1\nb\n$-1\n"));
    }

    @Test
    void invalidReplyIsAnError() throws Exception {
        assertThatThrownBy(() -> read("-ERR penalties are not tracked\n")).isInstanceOf(RespErrorException.class)
                .hasMessage("ERR penalties are not tracked");
        assertThatThrownBy(() -> read("!9\nERR never\n")).isInstanceOf(RespErrorException.class)
                .hasMessage("ERR never");
        assertThatThrownBy(() -> read("?1\n")).hasMessage("not RESP: ?1");
        assertThat(new Absent().number()).isNaN();
        assertThat(new Text("0.25").number()).isEqualTo(0.25);
        assertThatThrownBy(() -> new Text("abc").number()).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("abc");
        assertThatThrownBy(() -> new Text("abc").values()).hasMessageContaining("array");
        assertThatThrownBy(() -> new Absent().text()).hasMessageContaining("Absent");
    }
}
