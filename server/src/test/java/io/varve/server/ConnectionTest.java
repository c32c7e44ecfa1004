package io.varve.server;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import io.varve.server.testing.SettableTicker;
import io.varve.server.testing.StubCache;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/** A real server over sockets, with commands that need no store. Confined to the test's thread. */
class ConnectionTest {
    private static final String[] SETTINGS = {"io-threads 2", "maxmemory 64mb"};

    @RegisterExtension
    final ServerExtension server = ServerExtension.withStubCache(SETTINGS);
    private final ServerConfig config = ServerExtension.config(SETTINGS);

    @Test
    void anUnknownCommandIsNamedWithItsArguments() throws IOException {
        try (RawClient client = new RawClient(server.port())) {
            assertThat(client.command("FOO", "a", "b"))
                    .isEqualTo("-ERR unknown command 'FOO', with args beginning with: 'a' 'b' \r\n");
            assertThat(client.command("ping", "a", "b"))
                    .isEqualTo("-ERR wrong number of arguments for 'ping' command\r\n");
            assertThat(client.command("echo")).isEqualTo("-ERR wrong number of arguments for 'echo' command\r\n");
        }
    }

    @Test
    void inlineCommandsAreSplitAtBlanksOutsideQuotes() throws IOException {
        try (RawClient client = new RawClient(server.port())) {
            assertThat(client.send("PING\r\n").reply()).isEqualTo("+PONG\r\n");
            assertThat(client.send("\r\n  echo \"a \\x41\\n\\\"b\"  \n").reply()).isEqualTo("$6\r\na A\n\"b\r\n");
            assertThat(client.send("echo 'it\\'s'\r\n").reply()).isEqualTo("$4\r\nit's\r\n");
            assertThat(client.send("echo \"\"\r\n").reply()).isEqualTo("$0\r\n\r\n");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"*a_|invalid multibulk length", "*2147483648_|invalid multibulk length",
            "*1_+PING_|expected '$', got '+'", "*1_$-1_|invalid bulk length", "*1_$536870913_|invalid bulk length",
            "*1_$x_|invalid bulk length", "echo \"a_|unbalanced quotes in request",
            "echo \"a\"b_|unbalanced quotes in request"})
    void aProtocolErrorClosesThatConnectionAlone(String input, String error) throws IOException {
        try (RawClient other = new RawClient(server.port());
                RawClient client = new RawClient(server.port())) {
            client.send("PING\r\n" + input.replace("_", "\r\n"));
            assertThat(client.readToEnd()).isEqualTo("+PONG\r\n-ERR Protocol error: " + error + "\r\n");
            assertThat(other.command("PING")).isEqualTo("+PONG\r\n");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"_0|too big inline request", "ping0_|too big inline request",
            "echo \"a0b_|too big inline request", "*10_|too big mbulk count string",
            "*1_$40_PING_|too big bulk count string"})
    void noLineEndsBehindANul(String input, String error) throws IOException {
        try (RawClient client = new RawClient(server.port())) {
            client.send("ECHO \"a\\x00b\"\r\n" + input.replace("0", "\0").replace("_", "\r\n"));
            assertThat(client.read(9)).isEqualTo("$3\r\na\0b\r\n");
            client.send("\r\nPING\r\n" + "x".repeat(64 << 10));
            assertThat(client.readToEnd()).isEqualTo("-ERR Protocol error: " + error + "\r\n");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"POST / HTTP/1.1_host: x__SET pwn 1_", "post_PING_", "Host: x_PING_", "HOST:_PING_",
            "*2_$4_pOsT_$1_x_PING_", "*1_$6_host:0_PING_", "\"pos\\x74\"_PING_"})
    void httpEndsTheConnectionWithoutAReply(String input) throws IOException {
        try (RawClient other = new RawClient(server.port());
                RawClient client = new RawClient(server.port())) {
            // A NUL ends a command's name.
            client.send("PING\r\n" + input.replace("host:0", "host:\0").replace("_", "\r\n"));
            assertThat(client.readToEnd()).isEmpty();
            assertThat(other.command("PING")).isEqualTo("+PONG\r\n");
        }
    }

    @Test
    void httpClosesUnauthenticatedConnectionsToo() throws IOException {
        try (VarveServer locked = server.startWithStubCache(config.with("requirepass", "secret"));
                RawClient client = new RawClient(locked.port())) {
            assertThat(client.send("POST / HTTP/1.1\r\nAUTH secret\r\n").readToEnd()).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"host", "host:x", "posts", "GET / HTTP/1.1", "HEAD"})
    void commandsThatResembleHttpRun(String line) throws IOException {
        try (RawClient client = new RawClient(server.port())) {
            assertThat(client.send(line + "\r\n").reply()).startsWith("-ERR ");
            assertThat(client.command("PING")).isEqualTo("+PONG\r\n");
        }
    }

    @Test
    void httpIsLoggedOnceWithoutItsContent() throws IOException {
        Logger logger = (Logger) LoggerFactory.getLogger("io.varve.server.command.session.CrossProtocolGuard");
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        logger.addAppender(log);
        try {
            for (int i = 0; i < 3; i++) {
                try (RawClient client = new RawClient(server.port())) {
                    assertThat(client.send("POST /secret HTTP/1.1\r\n").readToEnd()).isEmpty();
                }
            }
            assertThat(log.list).singleElement().satisfies(event -> {
                assertThat(event.getLevel()).isEqualTo(Level.WARN);
                assertThat(event.getFormattedMessage()).startsWith("Connection 127.0.0.1:").doesNotContain("secret");
            });
        } finally {
            logger.detachAppender(log);
        }
    }

    @Test
    void linesOverTheLimitAreRefused() throws IOException {
        String blanks = "a".repeat((64 << 10) + 1);
        try (RawClient client = new RawClient(server.port())) {
            assertThat(client.send(blanks).readToEnd()).isEqualTo("-ERR Protocol error: too big inline request\r\n");
        }
        try (RawClient client = new RawClient(server.port())) {
            assertThat(client.send("*" + blanks).readToEnd())
                    .isEqualTo("-ERR Protocol error: too big mbulk count string\r\n");
        }
        try (RawClient client = new RawClient(server.port())) {
            assertThat(client.send("*1\r\n$" + blanks).readToEnd())
                    .isEqualTo("-ERR Protocol error: too big bulk count string\r\n");
        }
    }

    /** A socket closed with unread bytes resets the connection: the client would lose the error with its own write. */
    @ParameterizedTest
    @ValueSource(strings = {"epoll", "io_uring", "nio"})
    void theErrorArrivesWhileTheClientKeepsSending(String transport) throws IOException {
        try (VarveServer other = server.startWithStubCache(config.with("transport", transport));
                RawClient client = new RawClient(other.port())) {
            client.send("a".repeat(8 << 20));
            assertThat(client.readToEnd()).isEqualTo("-ERR Protocol error: too big inline request\r\n");
        }
    }

    @Test
    void aClientThatKeepsSendingAfterAnErrorIsDisconnected() throws IOException {
        byte[] more = new byte[1 << 20];
        try (RawClient client = new RawClient(server.port())) {
            client.send("*x\r\n");
            assertThat(client.readToEnd()).isEqualTo("-ERR Protocol error: invalid multibulk length\r\n");
            assertThatThrownBy(() -> {
                for (int i = 0; i < 64; i++) {
                    client.send(more);
                }
            }).isInstanceOf(IOException.class);
        }
    }

    @Test
    void aClientThatStaysAfterAnErrorIsClosed() throws IOException {
        SettableTicker ticker = new SettableTicker();
        try (VarveServer other = server.start(config, StubCache.create(config.cacheConfig().withTicker(ticker)));
                RawClient admin = new RawClient(other.port());
                RawClient client = new RawClient(other.port())) {
            client.send("*x\r\n");
            assertThat(client.readToEnd()).isEqualTo("-ERR Protocol error: invalid multibulk length\r\n");
            assertThat(admin.info("connected_clients")).isEqualTo("2");
            ticker.pass(2000);
            await().untilAsserted(() -> assertThat(admin.info("connected_clients")).isEqualTo("1"));
        }
    }

    @Test
    void emptyAndNegativeArraysAreSkipped() throws IOException {
        try (RawClient client = new RawClient(server.port())) {
            assertThat(client.send("*0\r\n*-1\r\n*-100\r\nPING\r\n").reply()).isEqualTo("+PONG\r\n");
        }
    }

    @Test
    void aPipelineOfMoreThanABatchIsAnsweredInOrder() throws IOException {
        try (RawClient client = new RawClient(server.port())) {
            StringBuilder requests = new StringBuilder();
            StringBuilder replies = new StringBuilder();
            for (int i = 0; i < 5_000; i++) {
                String text = "value-" + i;
                requests.append(new String(RawClient.encode("ECHO", text), StandardCharsets.ISO_8859_1));
                replies.append('$').append(text.length()).append("\r\n").append(text).append("\r\n");
            }
            client.send(requests.toString());
            assertThat(client.read(replies.length())).isEqualTo(replies.toString());
        }
    }

    @Test
    void aClientThatDoesNotReadIsNotReadEither() throws Exception {
        byte[] request = RawClient.encode("ECHO", "x".repeat(60_000));
        try (RawClient slow = new RawClient(server.port());
                RawClient other = new RawClient(server.port())) {
            int count = 1_000;
            Thread sender = Thread.ofPlatform().start(() -> {
                try {
                    for (int i = 0; i < count; i++) {
                        slow.send(request);
                    }
                } catch (IOException broken) {
                    throw new java.io.UncheckedIOException(broken);
                }
            });
            await().atMost(20, TimeUnit.SECONDS).until(() -> sender.getState() == Thread.State.RUNNABLE
                    || !sender.isAlive());
            assertThat(other.command("PING")).isEqualTo("+PONG\r\n");
            for (int i = 0; i < count; i++) {
                assertThat(slow.reply()).hasSize(60_000 + 10);
            }
            sender.join(10_000);
            assertThat(sender.isAlive()).isFalse();
        }
    }

    @Test
    void aHalfCommandAndAClosedSocketAreHarmless() throws IOException {
        byte[] whole = RawClient.encode("ECHO", "x".repeat(3_000));
        try (RawClient other = new RawClient(server.port())) {
            for (int cut = 1; cut < whole.length; cut += 97) {
                try (RawClient client = new RawClient(server.port())) {
                    client.send(java.util.Arrays.copyOf(whole, cut));
                }
            }
            assertThat(other.command("PING")).isEqualTo("+PONG\r\n");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "io_uring", "nio"})
    void everyTransportServes(String transport) throws IOException {
        try (VarveServer another = server.startWithStubCache(config.with("transport", transport));
                RawClient client = new RawClient(another.port())) {
            assertThat(client.command("PING")).isEqualTo("+PONG\r\n");
        }
    }

    @Test
    void maxclientsIsKept() throws IOException {
        try (VarveServer small = server.startWithStubCache(config.with("maxclients", "1"));
                RawClient first = new RawClient(small.port())) {
            assertThat(first.command("PING")).isEqualTo("+PONG\r\n");
            try (RawClient second = new RawClient(small.port())) {
                assertThat(second.readToEnd()).isEqualTo("-ERR max number of clients reached\r\n");
            }
            assertThat(first.command("QUIT")).isEqualTo("+OK\r\n");
            await().atMost(10, TimeUnit.SECONDS).until(() -> {
                try (RawClient third = new RawClient(small.port())) {
                    return third.command("PING").equals("+PONG\r\n");
                } catch (IOException notYet) {
                    return false;
                }
            });
        }
    }

    @Test
    void authenticationIsRequired() throws IOException {
        try (VarveServer locked = server.startWithStubCache(config.with("requirepass", "secret"));
                RawClient client = new RawClient(locked.port())) {
            assertThat(client.command("PING")).isEqualTo("-NOAUTH Authentication required.\r\n");
            assertThat(client.command("HELLO", "3")).startsWith("-NOAUTH HELLO must be called");
            assertThat(client.command("AUTH", "wrong"))
                    .isEqualTo("-WRONGPASS invalid username-password pair or user is disabled.\r\n");
            assertThat(client.command("AUTH", "default", "secret")).isEqualTo("+OK\r\n");
            assertThat(client.command("PING")).isEqualTo("+PONG\r\n");
            assertThat(client.command("RESET")).isEqualTo("+RESET\r\n");
            assertThat(client.command("HELLO", "3", "AUTH", "default", "secret", "SETNAME", "me"))
                    .startsWith("%7\r\n$6\r\nserver\r\n");
        }
        try (VarveServer locked = server.startWithStubCache(config.with("requirepass", "secret"));
                RawClient client = new RawClient(locked.port())) {
            assertThat(client.send("*11\r\n").readToEnd())
                    .isEqualTo("-ERR Protocol error: unauthenticated multibulk length\r\n");
        }
        try (VarveServer locked = server.startWithStubCache(config.with("requirepass", "secret"));
                RawClient client = new RawClient(locked.port())) {
            assertThat(client.send("*1\r\n$16385\r\n").readToEnd())
                    .isEqualTo("-ERR Protocol error: unauthenticated bulk length\r\n");
        }
    }

    @Test
    void behindItsAuthenticationAClientMaySendMuch() throws IOException {
        try (VarveServer locked = server.startWithStubCache(config.with("requirepass", "secret"));
                RawClient client = new RawClient(locked.port())) {
            String giant = "x".repeat(20_000);
            client.send("AUTH secret\r\n*2\r\n$4\r\nECHO\r\n$20000\r\n" + giant + "\r\n*12\r\n$4\r\nPING\r\n"
                    + "$1\r\na\r\n".repeat(11));
            String expected = "+OK\r\n$20000\r\n" + giant + "\r\n-ERR wrong number of arguments for 'ping' command\r\n";
            assertThat(client.read(expected.length())).isEqualTo(expected);
        }
    }

    // The reply is compared byte for byte, with its carriage returns: a text block would hide them.
    @SuppressWarnings("StringConcatToTextBlock")
    @Test
    void stateChangesApplyWithinABatch() throws IOException {
        try (RawClient client = new RawClient(server.port())) {
            client.send("SELECT 99\r\nSELECT x\r\nSELECT 3\r\nHELLO 4\r\nHELLO 3\r\nRESET\r\nPING\r\nQUIT\r\nPING\r\n");
            assertThat(client.readToEnd()).isEqualTo(
                    "-ERR DB index is out of range\r\n-ERR value is not an integer or out of range\r\n+OK\r\n"
                            + "-NOPROTO unsupported protocol version\r\n"
                            + "%7\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n7.4.1\r\n$5\r\nproto\r\n:3\r\n"
                            + "$2\r\nid\r\n:1\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n"
                            + "$7\r\nmodules\r\n*0\r\n+RESET\r\n+PONG\r\n+OK\r\n");
        }
    }
}
