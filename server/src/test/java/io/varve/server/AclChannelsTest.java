package io.varve.server;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests users' channel permissions, and the disconnection of clients that lose them. Confined to the test's thread. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class AclChannelsTest {
    private static final String NO_CHANNEL = "NOPERM No permissions to access a channel";
    private static final String BECAUSE = "NOPERM ACLs rules changed between the moment the transaction was accumulated and"
            + " the EXEC call. This command is no longer allowed for the following reason: ";

    @RegisterExtension
    final ServerExtension server = ServerExtension.with("io-threads 3", "maxmemory 64mb");
    private RawClient admin;

    @BeforeEach
    void start() throws IOException {
        admin = server.connect();
    }

    private RawClient login(String user) throws IOException {
        RawClient client = server.connect();
        expect(client, "AUTH " + user + " x", "+OK");
        return client;
    }

    private void user(String name, String rules) throws IOException {
        expect(admin, "ACL SETUSER " + name + " " + rules, "+OK");
    }

    private static void expect(RawClient of, String words, String expected) throws IOException {
        of.send(RawClient.encode(words.split(" ", -1)));
        gets(of, expected);
    }

    private static void gets(RawClient client, String... expected) throws IOException {
        for (String one : expected) {
            assertThat(client.reply().replace("\r\n", " ").strip()).isEqualTo(one);
        }
    }

    @Test
    void eachCommandChecksItsChannels() throws IOException {
        user("u", "on nopass +@all ~* resetchannels &news &chat:* &[ab]");
        RawClient client = login("u");
        for (String allowed : List.of("PUBLISH news x", "PUBLISH chat:1 x", "PUBLISH a x", "SPUBLISH chat: x")) {
            expect(client, allowed, ":0");
        }
        for (String denied : List.of("PUBLISH newsx x", "PUBLISH chat x", "SPUBLISH c x", "SUBSCRIBE news other",
                "SSUBSCRIBE other", "SSUBSCRIBE chat:1 other chat:2", "PSUBSCRIBE *", "PSUBSCRIBE chat:1",
                "PSUBSCRIBE chat:* new?", "PSUBSCRIBE a")) {
            expect(client, denied, "-" + NO_CHANNEL);
        }
        // Nothing was begun with the part that is allowed.
        assertThat(client.command("CLIENT", "INFO")).contains(" sub=0 psub=0 ssub=0 ");
        expect(client, "PSUBSCRIBE chat:* [ab] news", "*3 $10 psubscribe $6 chat:* :1");
        gets(client, "*3 $10 psubscribe $4 [ab] :2", "*3 $10 psubscribe $4 news :3");
        expect(client, "SSUBSCRIBE b", "*3 $10 ssubscribe $1 b :1");
        expect(client, "SUBSCRIBE chat:1", "*3 $9 subscribe $6 chat:1 :4");
        // Ending what one may not begin is allowed.
        expect(client, "UNSUBSCRIBE other", "*3 $11 unsubscribe $5 other :4");
        expect(client, "PUNSUBSCRIBE *", "*3 $12 punsubscribe $1 * :4");
        expect(client, "SUNSUBSCRIBE other", "*3 $12 sunsubscribe $5 other :1");
    }

    @Test
    void denialsAreLogged() throws IOException {
        user("u", "on nopass +@all resetchannels &a");
        RawClient client = login("u");
        expect(client, "SUBSCRIBE a secret", "-" + NO_CHANNEL);
        List<RawReply> entry = admin.call("ACL", "LOG").elements().getFirst().elements();
        assertThat(List.of(entry.get(3).text(), entry.get(5).text(), entry.get(7).text(), entry.get(9).text()))
                .containsExactly("channel", "toplevel", "secret", "u");
        assertThat(admin.info("acl_access_denied_channel")).isEqualTo("1");
    }

    @Test
    void aSelectorAllowsAsAWhole() throws IOException {
        user("u", "on nopass resetchannels -@all +subscribe &a (+publish resetchannels &b)");
        RawClient client = login("u");
        expect(client, "PUBLISH b x", ":0");
        expect(client, "PUBLISH a x", "-" + NO_CHANNEL);
        expect(client, "SUBSCRIBE b", "-" + NO_CHANNEL);
        expect(client, "SUBSCRIBE a", "*3 $9 subscribe $1 a :1");
    }

    /**
     * A subscriber whose channels all stay allowed stays connected; the others are disconnected before the change is
     * acknowledged.
     */
    @ParameterizedTest
    @ValueSource(strings = {"SUBSCRIBE secret", "PSUBSCRIBE s*", "SSUBSCRIBE secret", "SUBSCRIBE a secret"})
    void subscribersOfForbiddenChannelsAreDisconnected(String listening) throws IOException {
        user("u", "on nopass +@all &*");
        RawClient beyond = login("u");
        RawClient within = login("u");
        RawClient silent = login("u");
        RawClient other = server.connect();
        String[] words = listening.split(" ");
        beyond.send(RawClient.encode(words));
        for (int i = 1; i < words.length; i++) {
            assertThat(beyond.reply()).contains(words[i]);
        }
        expect(within, "SUBSCRIBE a", "*3 $9 subscribe $1 a :1");
        expect(other, "SUBSCRIBE secret", "*3 $9 subscribe $6 secret :1");
        // In one piece: there is no moment in between.
        admin.send("ACL SETUSER u resetchannels &a &*x\r\nPUBLISH secret told\r\nSPUBLISH secret told\r\n");
        gets(admin, "+OK", ":1", ":0");
        assertThat(beyond.readToEnd()).isEmpty();
        gets(other, "*3 $7 message $6 secret $4 told");
        expect(admin, "PUBLISH a x", ":1");
        gets(within, "*3 $7 message $1 a $1 x");
        expect(silent, "PUBLISH secret x", "-" + NO_CHANNEL);
    }

    @Test
    void aClientThatRevokesItsOwnChannelsGetsTheReplyFirst() throws IOException {
        user("u", "on nopass +@all &*");
        RawClient client = login("u");
        assertThat(client.command("HELLO", "3")).startsWith("%7");
        expect(client, "SUBSCRIBE secret", ">3 $9 subscribe $6 secret :1");
        client.send("ACL SETUSER u resetchannels\r\nPING\r\n");
        assertThat(client.readToEnd()).isEqualTo("+OK\r\n");
    }

    /** The event of SET comes after the change of rules, and before the connection closes. */
    @Test
    void aClientThatRevokesItsOwnChannelsGetsNoMessageThereafter() throws IOException {
        user("u", "on nopass +@all ~* &*");
        expect(admin, "CONFIG SET notify-keyspace-events KEA", "+OK");
        RawClient client = login("u");
        assertThat(client.command("HELLO", "3")).startsWith("%7");
        expect(client, "SUBSCRIBE __keyspace@0__:k", ">3 $9 subscribe $16 __keyspace@0__:k :1");
        client.send("MULTI\r\nACL SETUSER u resetchannels\r\nSET k v\r\nEXEC\r\n");
        assertThat(client.readToEnd()).isEqualTo("+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n+OK\r\n+OK\r\n");
    }

    @Test
    void addedRulesDisconnectNoClient() throws IOException {
        user("u", "on nopass +@all resetchannels &a");
        RawClient client = login("u");
        expect(client, "SUBSCRIBE a", "*3 $9 subscribe $1 a :1");
        user("u", "&b");
        user("u", "-publish off");
        user("u", "resetchannels &?");
        user("u", "allchannels");
        expect(admin, "PUBLISH a x", ":1");
        gets(client, "*3 $7 message $1 a $1 x");
    }

    @Test
    void aDeletedUserReceivesNoMoreMessages() throws IOException {
        user("u", "on nopass +@all &*");
        RawClient client = login("u");
        expect(client, "SUBSCRIBE a", "*3 $9 subscribe $1 a :1");
        admin.send("ACL DELUSER u\r\nPUBLISH a told\r\n");
        gets(admin, ":1", ":0");
        assertThat(client.readToEnd()).isEmpty();
    }

    @Test
    void queuedCommandsAreCheckedAgainAtExec() throws IOException {
        user("u", "on nopass +@all ~* &*");
        RawClient client = login("u");
        expect(client, "MULTI", "+OK");
        for (String queued : List.of("SUBSCRIBE secret", "PUBLISH secret x", "PUBLISH a x")) {
            expect(client, queued, "+QUEUED");
        }
        user("u", "resetchannels &a");
        String why = "-" + BECAUSE + "no permission to access one of the channels used as arguments";
        expect(client, "EXEC", "*3 " + why + " " + why + " :0");
        assertThat(client.command("CLIENT", "INFO")).contains(" sub=0 ");
        expect(client, "MULTI", "+OK");
        expect(client, "PUBLISH secret x", "-" + NO_CHANNEL);
        expect(client, "EXEC", "-EXECABORT Transaction discarded because of previous errors.");
    }

    /** Patterns of users and names of channels are bytes, and may be long. */
    @Test
    void namesAreBytesOfAnyLength() throws IOException {
        String name = "\u00fe" + "n".repeat(100_000);
        user("u", "on nopass +@all resetchannels &\u00fe*");
        RawClient client = login("u");
        assertThat(client.command("SUBSCRIBE", name)).startsWith("*3");
        assertThat(client.command("SUBSCRIBE", name.substring(1))).isEqualTo("-" + NO_CHANNEL + "\r\n");
        user("u", "&x");
        expect(admin, "PUBLISH " + name + " x", ":1");
        assertThat(client.reply()).startsWith("*3").contains("message");
        user("u", "resetchannels &\u00fe");
        assertThat(client.readToEnd()).isEmpty();
    }

    /** A rule contains no NUL, which ends it; a client's channel may contain one, and does not match that rule. */
    @Test
    void aPatternDoesNotEndAtANul() throws IOException {
        user("u", "on nopass +@all resetchannels &a &");
        RawClient client = login("u");
        for (String pattern : List.of("a\0*", "\0*", "\0")) {
            assertThat(client.command("PSUBSCRIBE", pattern)).as(pattern).isEqualTo("-" + NO_CHANNEL + "\r\n");
        }
        assertThat(client.command("PSUBSCRIBE", "a")).startsWith("*3");
    }

    /** Two clients wait for a key; the first has lost its permission when an element arrives. */
    @ParameterizedTest
    @ValueSource(strings = {"resetkeys", "-blpop", "-@list"})
    void aBlockedClientWithoutRightsGetsAnErrorAndTheNextIsServed(String rules) throws IOException {
        user("u", "on nopass +@all ~*");
        RawClient first = waiting(login("u"), 1);
        RawClient second = waiting(server.connect(), 2);
        user("u", rules);
        admin.send("RPUSH k v\r\nEXISTS k\r\n");
        gets(admin, ":1", ":0");
        assertThat(first.reply()).isIn("-NOPERM No permissions to access a key\r\n",
                "-NOPERM User u has no permissions to run the 'blpop' command\r\n");
        gets(second, "*2 $1 k $1 v");
        assertThat(admin.info("blocked_clients")).isEqualTo("0");
        // Nobody waits for the key any more.
        expect(admin, "RPUSH k w", ":1");
        expect(admin, "LPOP k", "$1 w");
    }

    /** One that is deleted waits no more, and takes nothing with it. */
    @Test
    void aUserDeletedWhileBlockedTakesNoElement() throws IOException {
        user("u", "on nopass +@all ~*");
        RawClient first = waiting(login("u"), 1);
        RawClient second = waiting(server.connect(), 2);
        admin.send("ACL DELUSER u\r\nRPUSH k v\r\nEXISTS k\r\n");
        gets(admin, ":1", ":1", ":0");
        gets(second, "*2 $1 k $1 v");
        // The last reply before its disconnection, if it was woken before.
        assertThat(first.readToEnd()).isIn("", "-NOPERM User u has no permissions to run the 'blpop' command\r\n");
    }

    private RawClient waiting(RawClient client, int blocked) throws IOException {
        client.send(RawClient.encode("BLPOP", "k", "0"));
        await().until(() -> admin.infoLong("blocked_clients") == blocked);
        return client;
    }
}
