package io.varve.proxy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;

import io.varve.proxy.map.BlockingConnection;
import io.varve.proxy.map.Endpoint;
import io.varve.proxy.testing.RedisMember;
import io.varve.proxy.testing.TestProxy;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Broken and unusual input: the proxy answers as a server does. Confined to the test's thread. */
class ProxyInputIT {
    private static final int TIMEOUT_MILLIS = 20_000;

    private static TestProxy proxy;
    private static RedisMember reference;

    @BeforeAll
    static void start() throws IOException {
        proxy = TestProxy.overServers(3);
        reference = RedisMember.start();
    }

    @AfterAll
    static void stop() {
        proxy.close();
        reference.close();
    }

    /** All that a server sends until it closes the connection. */
    private static String answer(int port, String input) throws IOException {
        try (java.net.Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(TIMEOUT_MILLIS);
            socket.getOutputStream().write(input.getBytes(StandardCharsets.ISO_8859_1));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"*1\r\n$4\r\nPING\r\n*2\r\n$3\r\nGET\r\nkey\r\n", "*-5x\r\n", "*99999999999\r\n",
            "*1\r\n$-1\r\n", "*1\r\n$abc\r\n", "*1\r\n$99999999999\r\n", "SET \"a\r\n", "*1\r\nPING\r\n",
            "PING\r\n*0\r\n*-1\r\n\r\nECHO 'a b'\r\nQUIT\r\n", "set inline \"a\\x41\\n\"\r\nGET inline\r\nquit\r\n",
            "*2\r\n$3\r\nget\r\n$6\r\ninline\r\nQUIT\r\n", "foo bar\r\nget\r\nget a b\r\nclient nothing\r\nquit\r\n",
            "exec x\r\nmulti\r\nget\r\nexec\r\nmulti\r\nmulti\r\ndiscard\r\nquit\r\n",
            "select x\r\nhello 4\r\nhello x\r\nhello 2 bad\r\nauth x\r\nping a b\r\nmset a\r\nmset a 1 b\r\nquit\r\n"})
    void brokenAndUnusualInput_isAnsweredAsByAServer(String input) throws IOException {
        assertThat(answer(proxy.port(), input)).isEqualTo(answer(reference.port(), input));
    }

    @Test
    void aTooLongLine_isRefusedAsByAServer() throws IOException {
        String input = "x".repeat(70_000);
        assertThat(answer(proxy.port(), input)).isEqualTo(answer(reference.port(), input));
    }

    @Test
    void requestsInPieces_areHandled() throws IOException {
        String request = "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nva\r\nl\r\n*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n";
        for (int cut = 1; cut < request.length(); cut++) {
            try (BlockingConnection client = proxy.connect()) {
                client.sendBytes(request.substring(0, cut).getBytes(StandardCharsets.ISO_8859_1));
                client.sendBytes(request.substring(cut).getBytes(StandardCharsets.ISO_8859_1));
                assertThat(client.read().text()).isEqualTo("OK");
                assertThat(client.read().text()).isEqualTo("va\r\nl");
            }
        }
    }

    @Test
    void aRequestOverTheQueryLimit_endsItsConnectionOnly() throws IOException {
        try (TestProxy small = TestProxy.over(List.of(RedisMember.start()), "--client-query-buffer-limit", "1mb");
                BlockingConnection client = small.connect()) {
            assertThat(client.call("SET", "key", "v".repeat(900_000)).text()).isEqualTo("OK");
            try (BlockingConnection greedy = small.connect()) {
                org.assertj.core.api.Assertions.assertThatThrownBy(() -> {
                    greedy.send("SET", "key", "v".repeat(3_000_000));
                    greedy.read();
                }).isInstanceOf(IOException.class);
            }
            assertThat(client.call("STRLEN", "key").integer()).isEqualTo(900_000);
        }
    }

    @Test
    void randomBytes_endNoOtherConnection() throws IOException {
        int inputs = TestBudget.ofInt("varve.proxy.fuzz-inputs", 400, 20_000);
        Random random = new Random(TestBudget.seed("varve.proxy.fuzz-seed"));
        byte[] valid = ("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$3\r\nxyz\r\n*2\r\n$3\r\nGET\r\n$1\r\na\r\n*3\r\n$4\r\nMGET\r\n$1\r\na"
                + "\r\n$1\r\nb\r\nPING\r\n*1\r\n$5\r\nMULTI\r\n*2\r\n$3\r\nGET\r\n$1\r\na\r\n*1\r\n$4\r\nEXEC\r\n")
                .getBytes(StandardCharsets.ISO_8859_1);
        try (BlockingConnection steady = proxy.connect()) {
            for (int i = 0; i < inputs; i++) {
                byte[] bytes = valid.clone();
                for (int change = random.nextInt(6); change >= 0; change--) {
                    bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
                }
                try (BlockingConnection fuzzed = new BlockingConnection(new Endpoint("127.0.0.1", proxy.port()),
                        TIMEOUT_MILLIS, null)) {
                    fuzzed.sendBytes(bytes);
                }
                assertThat(steady.call("ECHO", "text" + i).text()).isEqualTo("text" + i);
            }
            assertThat(steady.call("SET", "after", "all").text()).isEqualTo("OK");
        }
    }
}
