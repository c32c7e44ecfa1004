package io.varve.proxy.route;

import java.nio.charset.StandardCharsets;

import io.netty.buffer.Unpooled;
import io.varve.proxy.map.Endpoint;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests what errors of members mean. Confined to the test's thread. */
class RedirectionTest {
    private static final Endpoint FROM = new Endpoint("10.0.0.1", 7000);

    private static org.assertj.core.api.ObjectAssert<Redirection> assertOf(String error) {
        return assertThat(Redirection.of(Unpooled.copiedBuffer(error, StandardCharsets.ISO_8859_1), FROM));
    }

    @Test
    void movedAndAsk_nameAnEndpoint() {
        assertOf("-MOVED 3999 127.0.0.1:6381\r\n")
                .isEqualTo(new Redirection(Redirection.Kind.MOVED, new Endpoint("127.0.0.1", 6381)));
        assertOf("-MOVED 3999 :6381\r\n")
                .isEqualTo(new Redirection(Redirection.Kind.MOVED, new Endpoint("10.0.0.1", 6381)));
        assertOf("-ASK 1 ::1:6381\r\n").isEqualTo(new Redirection(Redirection.Kind.ASK, new Endpoint("::1", 6381)));
        assertOf("-TRYAGAIN Multiple keys request during rehashing of slot\r\n")
                .isEqualTo(new Redirection(Redirection.Kind.LATER, null));
        assertOf("-CLUSTERDOWN The cluster is down\r\n").isEqualTo(new Redirection(Redirection.Kind.LATER, null));
    }

    @ParameterizedTest
    @ValueSource(strings = {"-ERR no\r\n", "-MOVED\r\n", "-MOVED 1\r\n", "-MOVED 1 x\r\n", "-MISCONF x\r\n",
            "-CROSSSLOT x\r\n", "-\r\n"})
    void otherErrors_areNone(String error) {
        assertOf(error).isNull();
    }
}
