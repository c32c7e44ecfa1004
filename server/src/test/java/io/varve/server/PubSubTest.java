package io.varve.server;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests publish and subscribe over sockets, byte for byte as Redis 7.0.15 replies. Confined to the test's thread.
 *
 * <p>In the expected replies {@code >} stands for the head of a push, which is an array's in RESP2, and {@code nil} for
 * the null.
 */
@Timeout(60)
class PubSubTest {
    private static final String REFUSED = "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this"
            + " context";
    private static final int SMALL_RECEIVE_BUFFER_BYTES = 32 << 10;
    /** More than the kernel takes for a client that does not read. */
    private static final int SOFT_BYTES = 24 << 20;
    private static final int MAX_BYTES = 128 << 20;

    @RegisterExtension
    final ServerExtension server = ServerExtension.with("io-threads 2", "maxmemory 64mb");
    private RawClient listener;
    private RawClient publisher;

    @BeforeEach
    void connect() throws IOException {
        listener = server.connect();
        publisher = server.connect();
        expect(publisher, "PING", "+PONG");
    }

    /** Disconnected clients leave nothing behind, whatever a test has done. */
    @AfterEach
    void nothingStays() throws IOException {
        listener.close();
        try (RawClient last = server.connect()) {
            publisher.close();
            await().until(() -> last.info("connected_clients").equals("1"));
            for (String field : List.of("pubsub_channels", "pubsub_patterns", "pubsubshard_channels",
                    "undelivered_message_bytes")) {
                assertThat(last.infoLong(field)).as(field).isZero();
            }
        }
    }

    private static String oneLine(String reply) {
        return reply.replace("\r\n", " ").strip();
    }

    private static String execute(RawClient of, String words) throws IOException {
        return oneLine(of.command(words.split(" ", -1)));
    }

    private static void expect(RawClient of, String words, String expected) throws IOException {
        assertThat(execute(of, words)).as(words).isEqualTo(expected);
    }

    /** The next replies or pushes, one line each. */
    private static void reads(RawClient of, String... expected) throws IOException {
        for (String one : expected) {
            assertThat(oneLine(of.reply())).isEqualTo(one);
        }
    }

    /** Sends a command that is answered by several pushes. */
    private static void pushes(RawClient of, String words, String... expected) throws IOException {
        of.send(RawClient.encode(words.split(" ", -1)));
        reads(of, expected);
    }

    private static void speak(RawClient client, int protocol) throws IOException {
        assertThat(client.command("HELLO", Integer.toString(protocol))).startsWith(protocol == 3 ? "%7" : "*14");
    }

    /** Expected replies as they are in a protocol. */
    private static String[] in(int protocol, String... expected) {
        String[] replies = expected.clone();
        for (int i = 0; i < replies.length; i++) {
            replies[i] = replies[i].replace(">", protocol == 3 ? ">" : "*").replace("nil", protocol == 3 ? "_" : "$-1");
        }
        return replies;
    }

    // --- the commands

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void subscribersGetConfirmationsAndMessages(int protocol) throws IOException {
        speak(listener, protocol);
        pushes(listener, "SUBSCRIBE a b a", in(protocol, ">3 $9 subscribe $1 a :1", ">3 $9 subscribe $1 b :2",
                ">3 $9 subscribe $1 a :2"));
        pushes(listener, "psubscribe p* p* a?", in(protocol, ">3 $10 psubscribe $2 p* :3",
                ">3 $10 psubscribe $2 p* :3", ">3 $10 psubscribe $2 a? :4"));
        pushes(listener, "SSUBSCRIBE s s2",
                in(protocol, ">3 $10 ssubscribe $1 s :1", ">3 $10 ssubscribe $2 s2 :2"));
        expect(publisher, "PUBLISH a one", ":1");
        expect(publisher, "PUBLISH park two", ":1");
        expect(publisher, "SPUBLISH s three", ":1");
        expect(publisher, "SPUBLISH a nobody", ":0");
        expect(publisher, "PUBLISH s nobody", ":0");
        expect(publisher, "PUBLISH b ", ":1");
        reads(listener, in(protocol, ">3 $7 message $1 a $3 one", ">4 $8 pmessage $2 p* $4 park $3 two",
                ">3 $8 smessage $1 s $5 three", ">3 $7 message $1 b $0"));
        pushes(listener, "UNSUBSCRIBE a nope",
                in(protocol, ">3 $11 unsubscribe $1 a :3", ">3 $11 unsubscribe $4 nope :3"));
        pushes(listener, "PUNSUBSCRIBE", in(protocol, ">3 $12 punsubscribe $2 p* :2", ">3 $12 punsubscribe $2 a? :1"));
        pushes(listener, "SUNSUBSCRIBE s", in(protocol, ">3 $12 sunsubscribe $1 s :1"));
        expect(publisher, "PUBLISH a nobody", ":0");
        expect(publisher, "PUBLISH b last", ":1");
        reads(listener, in(protocol, ">3 $7 message $1 b $4 last"));
        pushes(listener, "UNSUBSCRIBE", in(protocol, ">3 $11 unsubscribe $1 b :0"));
        pushes(listener, "SUNSUBSCRIBE", in(protocol, ">3 $12 sunsubscribe $2 s2 :0"));
        expect(listener, "PING", "+PONG");
    }

    @ParameterizedTest
    @CsvSource({"2, UNSUBSCRIBE, 11", "3, UNSUBSCRIBE, 11", "2, PUNSUBSCRIBE, 12", "3, PUNSUBSCRIBE, 12",
            "2, SUNSUBSCRIBE, 12", "3, SUNSUBSCRIBE, 12"})
    void unsubscribeWithoutSubscriptionsIsConfirmed(int protocol, String command, int length) throws IOException {
        speak(listener, protocol);
        String head = ">3 $" + length + " " + command.toLowerCase(java.util.Locale.ROOT) + " ";
        pushes(listener, command, in(protocol, head + "nil :0"));
        pushes(listener, command + " x y", in(protocol, head + "$1 x :0", head + "$1 y :0"));
        expect(listener, "GET k", in(protocol, "nil")[0]);
    }

    @Test
    void aMessageComesOncePerSubscriptionThatItMatches() throws IOException {
        pushes(listener, "SUBSCRIBE news", "*3 $9 subscribe $4 news :1");
        pushes(listener, "PSUBSCRIBE n[a-f]ws h?llo", "*3 $10 psubscribe $8 n[a-f]ws :2",
                "*3 $10 psubscribe $5 h?llo :3");
        expect(publisher, "PUBLISH news hi", ":2");
        expect(publisher, "PUBLISH hallo hi", ":1");
        expect(publisher, "PUBLISH nyws hi", ":0");
        reads(listener, "*3 $7 message $4 news $2 hi", "*4 $8 pmessage $8 n[a-f]ws $4 news $2 hi",
                "*4 $8 pmessage $5 h?llo $5 hallo $2 hi");
    }

    @Test
    void namesAndMessagesAreAnyBytes() throws IOException {
        String name = "\0\u00ff\r\n";
        String message = "\r\n$1\r\n\0";
        pushes(listener, "SUBSCRIBE ", "*3 $9 subscribe $0  :1");
        pushes(listener, "PSUBSCRIBE  *", "*3 $10 psubscribe $0  :2", "*3 $10 psubscribe $1 * :3");
        // As in Redis a star does not match the empty name; the empty pattern does.
        expect(publisher, "PUBLISH  ", ":2");
        reads(listener, "*3 $7 message $0  $0", "*4 $8 pmessage $0  $0  $0");
        assertThat(publisher.command("PUBLISH", name, message)).isEqualTo(":1\r\n");
        assertThat(listener.reply())
                .isEqualTo("*4\r\n$8\r\npmessage\r\n$1\r\n*\r\n$4\r\n" + name + "\r\n$7\r\n" + message
                        + "\r\n");
    }

    // --- subscribers with RESP2

    @Test
    void inResp2AListenerMayDoLittleElse() throws IOException {
        pushes(listener, "SUBSCRIBE a", "*3 $9 subscribe $1 a :1");
        for (String command : List.of("GET k", "PUBLISH a x", "HELLO 3", "config get x", "client info", "MULTI",
                "DISCARD", "WATCH k", "PUBSUB NUMPAT", "auth x", "ECHO x")) {
            String[] words = command.split(" ");
            String name = words[0].equals("config") || words[0].equals("client") || words[0].equals("PUBSUB")
                    ? words[0] + "|" + words[1]
                    : words[0];
            expect(listener, command, "-ERR Can't execute '" + name.toLowerCase(java.util.Locale.ROOT) + REFUSED);
        }
        expect(listener, "EXEC", "-EXECABORT Transaction discarded because of: Can't execute 'exec" + REFUSED);
        expect(listener, "nosuch x", "-ERR unknown command 'nosuch', with args beginning with: 'x'");
        expect(listener, "get", "-ERR wrong number of arguments for 'get' command");
        expect(listener, "SUBSCRIBE", "-ERR wrong number of arguments for 'subscribe' command");
        expect(listener, "PING", "*2 $4 pong $0");
        expect(listener, "PING x", "*2 $4 pong $1 x");
        expect(listener, "PING x y", "-ERR wrong number of arguments for 'ping' command");
        expect(publisher, "PUBLISH a still", ":1");
        reads(listener, "*3 $7 message $1 a $5 still");
        expect(listener, "RESET", "+RESET");
        expect(publisher, "PUBLISH a nobody", ":0");
        expect(listener, "GET k", "$-1");
        pushes(listener, "SSUBSCRIBE a", "*3 $10 ssubscribe $1 a :1");
        expect(listener, "GET k", "-ERR Can't execute 'get" + REFUSED);
        listener.send("QUIT\r\n");
        assertThat(listener.readToEnd()).isEqualTo("+OK\r\n");
    }

    @Test
    void inResp3AListenerMayDoAnything() throws IOException {
        speak(listener, 3);
        pushes(listener, "SUBSCRIBE a", ">3 $9 subscribe $1 a :1");
        expect(listener, "SET k v", "+OK");
        expect(listener, "PING", "+PONG");
        expect(listener, "PUBLISH b x", ":0");
        // It receives its own message, in whichever order.
        pushes(listener, "PUBLISH a me", ":1", ">3 $7 message $1 a $2 me");
        expect(listener, "GET k", "$1 v");
        assertThat(execute(listener, "HELLO 2")).startsWith("*14");
        expect(listener, "GET k", "-ERR Can't execute 'get" + REFUSED);
        expect(publisher, "PUBLISH a x", ":1");
        reads(listener, "*3 $7 message $1 a $1 x");
        pushes(listener, "UNSUBSCRIBE", "*3 $11 unsubscribe $1 a :0");
        expect(listener, "GET k", "$1 v");
    }

    /** A subscription, or a refused command, counts for the commands behind it in the same read. */
    @Test
    void aPipelineIsAnsweredInOrder() throws IOException {
        listener.queue("SUBSCRIBE", "a", "b");
        listener.queue("GET", "k");
        listener.queue("PING", "1");
        listener.queue("UNSUBSCRIBE");
        listener.queue("GET", "k");
        listener.flush();
        reads(listener, "*3 $9 subscribe $1 a :1", "*3 $9 subscribe $1 b :2", "-ERR Can't execute 'get" + REFUSED,
                "*2 $4 pong $1 1", "*3 $11 unsubscribe $1 a :1", "*3 $11 unsubscribe $1 b :0", "$-1");
    }

    // --- with others

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void inATransaction(int protocol) throws IOException {
        speak(listener, protocol);
        expect(listener, "MULTI", "+OK");
        for (String command : List.of("SUBSCRIBE a", "PUBLISH nobody x", "PSUBSCRIBE p", "SSUBSCRIBE s",
                "UNSUBSCRIBE a", "SUNSUBSCRIBE", "SPUBLISH s x", "PUBSUB NUMPAT", "GET k", "PING")) {
            expect(listener, command, "+QUEUED");
        }
        expect(publisher, "PUBLISH a nobody", ":0");
        expect(listener, "EXEC", in(protocol, "*10 >3 $9 subscribe $1 a :1 :0 >3 $10 psubscribe $1 p :2"
                + " -ERR SSUBSCRIBE isn't allowed for a DENY BLOCKING client >3 $11 unsubscribe $1 a :1"
                + " >3 $12 sunsubscribe nil :0 :0 :1 nil " + (protocol == 3 ? "+PONG" : "*2 $4 pong $0"))[0]);
        expect(publisher, "PUBLISH p x", ":1");
        reads(listener, in(protocol, ">4 $8 pmessage $1 p $1 p $1 x"));
        expect(listener, "GET k", protocol == 3 ? "_" : "-ERR Can't execute 'get" + REFUSED);
    }

    @Test
    void aTransactionPublishesWhenItRuns() throws IOException {
        pushes(listener, "SUBSCRIBE a", "*3 $9 subscribe $1 a :1");
        for (String command : List.of("MULTI", "SET k v", "PUBLISH a 1", "PUBLISH a 2")) {
            execute(publisher, command);
        }
        expect(publisher, "DISCARD", "+OK");
        execute(publisher, "MULTI");
        execute(publisher, "PUBLISH a " + "3".repeat(100_000));
        execute(publisher, "PUBLISH a 4");
        expect(publisher, "EXEC", "*2 :1 :1");
        reads(listener, "*3 $7 message $1 a $100000 " + "3".repeat(100_000), "*3 $7 message $1 a $1 4");
    }

    @Test
    void messagesComeThoughRepliesAreLeftOut() throws IOException {
        speak(listener, 3);
        listener.send("CLIENT REPLY OFF\r\n");
        pushes(listener, "SUBSCRIBE a", ">3 $9 subscribe $1 a :1");
        expect(publisher, "PUBLISH a x", ":1");
        reads(listener, ">3 $7 message $1 a $1 x");
        listener.send("GET k\r\nPUBLISH a self\r\n");
        reads(listener, ">3 $7 message $1 a $4 self");
        pushes(listener, "UNSUBSCRIBE a", ">3 $11 unsubscribe $1 a :0");
        expect(listener, "CLIENT REPLY ON", "+OK");
        listener.send("CLIENT REPLY SKIP\r\n");
        pushes(listener, "SUBSCRIBE a", ">3 $9 subscribe $1 a :1");
        expect(listener, "GET k", "_");
    }

    @Test
    void pubsubReportsSubscriptions() throws IOException {
        try (RawClient other = server.connect()) {
            pushes(listener, "SUBSCRIBE x y z", "*3 $9 subscribe $1 x :1", "*3 $9 subscribe $1 y :2",
                    "*3 $9 subscribe $1 z :3");
            pushes(other, "SUBSCRIBE x", "*3 $9 subscribe $1 x :1");
            pushes(other, "PSUBSCRIBE x* y*", "*3 $10 psubscribe $2 x* :2", "*3 $10 psubscribe $2 y* :3");
            pushes(listener, "PSUBSCRIBE x*", "*3 $10 psubscribe $2 x* :4");
            pushes(listener, "SSUBSCRIBE s", "*3 $10 ssubscribe $1 s :1");
            expect(publisher, "PUBSUB NUMSUB", "*0");
            expect(publisher, "PUBSUB NUMSUB x y x nobody", "*8 $1 x :2 $1 y :1 $1 x :2 $6 nobody :0");
            expect(publisher, "PUBSUB NUMPAT", ":2");
            expect(publisher, "PUBSUB SHARDNUMSUB s x", "*4 $1 s :1 $1 x :0");
            expect(publisher, "PUBSUB SHARDCHANNELS", "*1 $1 s");
            expect(publisher, "PUBSUB SHARDCHANNELS x", "*0");
            assertThat(publisher.call("PUBSUB", "CHANNELS").elements()).extracting(RawReply::text)
                    .containsExactlyInAnyOrder("x", "y", "z");
            assertThat(publisher.call("pubsub", "channels", "[xy]").elements()).extracting(RawReply::text)
                    .containsExactlyInAnyOrder("x", "y");
            expect(publisher, "PUBSUB CHANNELS a b",
                    "-ERR unknown subcommand or wrong number of arguments for 'CHANNELS'. Try PUBSUB HELP.");
            expect(publisher, "PUBSUB NUMPAT x", "-ERR wrong number of arguments for 'pubsub|numpat' command");
            expect(publisher, "PUBSUB nosuch", "-ERR unknown subcommand 'nosuch'. Try PUBSUB HELP.");
            assertThat(execute(publisher, "PUBSUB HELP")).startsWith("*14 +PUBSUB <subcommand> ")
                    .contains("+SHARDNUMSUB ");
            assertThat(publisher.info("pubsub_channels")).isEqualTo("3");
            assertThat(publisher.info("pubsub_patterns")).isEqualTo("2");
            assertThat(publisher.info("pubsubshard_channels")).isEqualTo("1");
        }
        await().until(() -> execute(publisher, "PUBSUB NUMSUB x").equals("*2 $1 x :1"));
        expect(publisher, "PUBSUB NUMPAT", ":1");
    }

    @Test
    void aNameThatIsVeryLongIsAName() throws IOException {
        String name = "n".repeat(200_000);
        assertThat(listener.command("SUBSCRIBE", name)).startsWith("*3\r\n$9\r\nsubscribe\r\n$200000\r\nnnn");
        assertThat(publisher.call("PUBSUB", "CHANNELS", "n*n").elements()).singleElement()
                .satisfies(channel -> assertThat(channel.text()).isEqualTo(name));
        assertThat(publisher.command("PUBLISH", name, "x")).isEqualTo(":1\r\n");
        assertThat(listener.call("PING").elements().get(1).text()).isEqualTo(name);
        assertThat(listener.command("PSUBSCRIBE", "p", name)).isEqualTo("*2\r\n$4\r\npong\r\n$0\r\n\r\n");
        reads(listener, "-ERR argument is too long");
    }

    @Test
    void listenersAreAClassOfTheirOwn() throws IOException {
        try (RawClient plain = server.connect()) {
            speak(listener, 3);
            execute(listener, "CLIENT SETNAME listener");
            execute(plain, "CLIENT SETNAME plain");
            pushes(listener, "SUBSCRIBE a b", ">3 $9 subscribe $1 a :1", ">3 $9 subscribe $1 b :2");
            pushes(listener, "PSUBSCRIBE p", ">3 $10 psubscribe $1 p :3");
            pushes(listener, "SSUBSCRIBE s", ">3 $10 ssubscribe $1 s :1");
            assertThat(execute(listener, "CLIENT INFO")).contains(" flags=P ", " sub=2 psub=1 ssub=1 ");
            assertThat(execute(publisher, "CLIENT LIST TYPE pubsub")).contains("name=listener")
                    .doesNotContain("name=plain");
            assertThat(execute(publisher, "CLIENT LIST TYPE normal")).contains("name=plain")
                    .doesNotContain("name=listener");
            expect(listener, "CLIENT KILL TYPE pubsub", ":0");
            expect(publisher, "CLIENT KILL TYPE pubsub", ":1");
            assertThat(listener.readToEnd()).isEmpty();
            expect(plain, "PING", "+PONG");
        }
    }

    /** A listener may be silent for as long as it likes. It was there before the one that is closed. */
    @Test
    void subscribersAreNotIdle() throws IOException {
        pushes(listener, "SUBSCRIBE a", "*3 $9 subscribe $1 a :1");
        try (RawClient idle = server.connect()) {
            expect(publisher, "CONFIG SET timeout 1", "+OK");
            assertThat(idle.readToEnd()).isEmpty();
        }
        try (RawClient other = server.connect()) {
            expect(other, "CONFIG SET timeout 0", "+OK");
            expect(other, "PUBLISH a x", ":1");
            reads(listener, "*3 $7 message $1 a $1 x");
        }
    }

    // --- much

    @ParameterizedTest
    @ValueSource(ints = {10, 5_000, 200_000})
    void messagesPublishedBeforeUnsubscribePrecedeItsConfirmation(int bytes) throws IOException {
        int messages = Math.min(1000, 4_000_000 / bytes);
        String text = "x".repeat(bytes);
        pushes(listener, "SUBSCRIBE a", "*3 $9 subscribe $1 a :1");
        for (int i = 0; i < messages; i++) {
            publisher.queue("PUBLISH", "a", i + ":" + text);
        }
        publisher.flush();
        for (int i = 0; i < messages; i++) {
            assertThat(publisher.reply()).isEqualTo(":1\r\n");
        }
        listener.send(RawClient.encode("UNSUBSCRIBE", "a"));
        for (int i = 0; i < messages; i++) {
            readMessage(i + ":" + text);
        }
        reads(listener, "*3 $11 unsubscribe $1 a :0");
    }

    private void readMessage(String text) throws IOException {
        RawReply message = listener.read();
        assertThat(message.elements()).hasSize(3);
        assertThat(message.elements().get(2).text().equals(text)).as("%.10s", text).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"500, pubsub 1mb 0 0", "10000, pubsub 1mb 0 0", "300000, pubsub 1mb 0 0", "10000, pubsub 0 256kb 1"})
    void aSlowSubscriberIsDisconnectedAndOthersLoseNoMessage(int bytes, String limits) throws Exception {
        assertThat(publisher.command("CONFIG", "SET", "client-output-buffer-limit", limits)).isEqualTo("+OK\r\n");
        String text = "x".repeat(bytes);
        boolean soft = limits.contains(" 0 256kb");
        int max = (soft ? SOFT_BYTES : MAX_BYTES) / bytes;
        pushes(listener, "SUBSCRIBE a", "*3 $9 subscribe $1 a :1");
        try (RawClient slow = new RawClient(server.port(), SMALL_RECEIVE_BUFFER_BYTES)) {
            pushes(slow, "PSUBSCRIBE *", "*3 $10 psubscribe $1 * :1");
            long heard = 2;
            for (int i = 0; i < max && heard == 2; i++) {
                heard = publisher.call("PUBLISH", "a", i + ":" + text).integer();
                readMessage(i + ":" + text);
            }
            if (soft) {
                await().atMost(30, TimeUnit.SECONDS).until(() -> publisher.infoLong("pubsub_patterns") == 0);
            } else {
                assertThat(heard).as("the slow one is cut off").isOne();
            }
            assertThat(publisher.infoLong("pubsub_channels")).isOne();
        }
    }

    /** Its subscription, not its being slow, makes it a client of the class. */
    @Test
    void theLimitsOfListenersAreNotThoseOfOthers() throws IOException {
        assertThat(publisher.command("CONFIG", "SET", "client-output-buffer-limit", "normal 1mb 0 0 pubsub 0 0 0"))
                .isEqualTo("+OK\r\n");
        String text = "x".repeat(100_000);
        pushes(listener, "SUBSCRIBE a", "*3 $9 subscribe $1 a :1");
        for (int i = 0; i < 200; i++) {
            assertThat(publisher.call("PUBLISH", "a", i + ":" + text).integer()).isOne();
        }
        for (int i = 0; i < 200; i++) {
            readMessage(i + ":" + text);
        }
    }
}
