package io.varve.server;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import io.varve.server.config.ConfigReader;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests users over the wire: authentication, permissions, changes and deletion. Confined to the test's thread. */
class AclCommandsTest {
    private static final String NO_COMMAND = "NOPERM User u has no permissions to run the '%s' command";
    private static final String NO_KEY = "NOPERM No permissions to access a key";

    @TempDir
    Path folder;

    @RegisterExtension
    final ServerExtension server = ServerExtension.with("io-threads 2", "maxmemory 64mb");
    private RawClient admin;

    @BeforeEach
    void start() throws IOException {
        admin = server.connect();
    }

    private void user(String name, String... rules) throws IOException {
        String[] words = new String[3 + rules.length];
        System.arraycopy(new String[] {"ACL", "SETUSER", name}, 0, words, 0, 3);
        System.arraycopy(rules, 0, words, 3, rules.length);
        assertThat(admin.call(words).text()).isEqualTo("OK");
    }

    private RawClient login(String name, String password) throws IOException {
        RawClient client = new RawClient(server.port());
        assertThat(client.call("AUTH", name, password).text()).isEqualTo("OK");
        return client;
    }

    private static void assertRefused(RawClient client, String error, String... command) throws IOException {
        assertThat(client.call(command)).isEqualTo(new RawReply('-', error, List.of()));
    }

    @Test
    void rulesLimitWhatAUserMayRun() throws IOException {
        user("u", "on", ">pw", "+get", "+set", "+mget", "+config|get", "~a*", "%R~r*", "%W~w*", "(+del ~tmp)");
        try (RawClient client = login("u", "pw")) {
            assertThat(client.call("SET", "a1", "v").text()).isEqualTo("OK");
            assertThat(client.call("GET", "a1").text()).isEqualTo("v");
            assertRefused(client, NO_KEY, "GET", "b");
            assertThat(client.call("GET", "r1").isNull()).isTrue();
            assertRefused(client, NO_KEY, "SET", "r1", "v");
            assertThat(client.call("SET", "w1", "v").text()).isEqualTo("OK");
            assertRefused(client, NO_KEY, "GET", "w1");
            assertRefused(client, NO_KEY, "SET", "w1", "v", "GET");
            assertRefused(client, NO_KEY, "MGET", "a1", "r1", "b");
            assertThat(client.call("CONFIG", "GET", "maxmemory").elements()).hasSize(2);
            assertRefused(client, NO_COMMAND.formatted("config|set"), "CONFIG", "SET", "hz", "10");
            assertThat(client.call("DEL", "tmp").text()).isEqualTo("0");
            assertRefused(client, NO_KEY, "DEL", "a1");
            assertRefused(client, NO_COMMAND.formatted("ping"), "PING");
            assertRefused(client, NO_COMMAND.formatted("acl|whoami"), "ACL", "WHOAMI");
            assertThat(client.call("NOSUCH").text()).startsWith("ERR unknown command");
            // A command without authentication needs no permission.
            assertThat(client.call("HELLO", "2").isAggregate()).isTrue();
            assertThat(client.call("RESET").text()).isEqualTo("RESET");
            assertThat(client.call("ACL", "WHOAMI").text()).isEqualTo("default");
        }
    }

    @Test
    void changedRulesApplyToConnectedClients() throws IOException {
        user("u", "on", "nopass", "+@all", "~*");
        try (RawClient client = login("u", "any")) {
            assertThat(client.call("SET", "k", "v").text()).isEqualTo("OK");
            user("u", "-set");
            assertRefused(client, NO_COMMAND.formatted("set"), "SET", "k", "w");
            user("u", "resetkeys");
            assertRefused(client, NO_KEY, "GET", "k");
            user("u", "off", "allkeys");
            assertThat(client.call("GET", "k").text()).isEqualTo("v");
            assertThat(client.call("AUTH", "u", "any").text()).startsWith("WRONGPASS");
        }
    }

    @Test
    void deletedUsersAreDisconnected() throws IOException {
        user("u", "on", "nopass", "+@all", "~*");
        try (RawClient one = login("u", ""); RawClient two = login("u", ""); RawClient me = login("u", "")) {
            assertThat(me.send("ACL DELUSER u nobody\r\nPING\r\n").readToEnd()).isEqualTo(":1\r\n");
            assertThat(one.readToEnd()).isEmpty();
            assertThat(two.readToEnd()).isEmpty();
        }
        assertThat(admin.call("ACL", "USERS").elements()).hasSize(1);
        assertThat(admin.call("PING").text()).isEqualTo("PONG");
    }

    @Test
    void queuedCommandsAreCheckedWhenQueuedAndWhenRun() throws IOException {
        user("u", "on", "nopass", "+@all", "~a*");
        try (RawClient client = login("u", "")) {
            assertThat(client.call("MULTI").text()).isEqualTo("OK");
            assertRefused(client, NO_KEY, "SET", "b", "1");
            assertRefused(client, "EXECABORT Transaction discarded because of previous errors.", "EXEC");
            assertThat(client.call("MULTI").text()).isEqualTo("OK");
            assertThat(client.call("SET", "a", "1").text()).isEqualTo("QUEUED");
            assertThat(client.call("GET", "a").text()).isEqualTo("QUEUED");
            user("u", "-set");
            RawReply results = client.call("EXEC");
            assertThat(results.elements().getFirst().text())
                    .isEqualTo("NOPERM ACLs rules changed between the moment the"
                            + " transaction was accumulated and the EXEC call. This command is no longer allowed for the"
                            + " following reason: no permission to execute the command or subcommand");
            assertThat(results.elements().get(1).isNull()).isTrue();
            user("u", "-exec");
            assertThat(client.call("MULTI").text()).isEqualTo("OK");
            assertRefused(client, "EXECABORT Transaction discarded because of: " + NO_COMMAND.formatted("exec"),
                    "EXEC");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void theLogReportsTheDeniedObject(int protocol) throws IOException {
        user("u", "on", "nopass", "+get", "+multi", "~a*");
        try (RawClient client = login("u", "")) {
            client.call("GET", "b");
            client.call("get", "b");
            client.call("SET", "a", "1");
            client.call("HELLO", "3", "AUTH", "nobody", "pw");
            client.call("MULTI");
            client.call("GET", "b\u00ff");
        }
        admin.call("HELLO", "" + protocol);
        RawReply log = admin.call("ACL", "LOG");
        assertThat(log.elements()).hasSize(4);
        assertThat(log.elements().getFirst().kind()).isEqualTo(protocol == 3 ? '%' : '*');
        assertThat(entry(log, 0)).containsExactly("1", "key", "multi", "b\u00ff", "u");
        assertThat(entry(log, 1)).containsExactly("1", "auth", "toplevel", "HELLO", "nobody");
        assertThat(entry(log, 2)).containsExactly("1", "command", "toplevel", "set", "u");
        assertThat(entry(log, 3)).containsExactly("2", "key", "toplevel", "b", "u");
        assertThat(field(log, 3, 13)).contains("addr=127.0.0.1:", " user=u ").doesNotContain("pw");
        assertThat(List.of(field(log, 3, 12), field(log, 3, 14), field(log, 3, 16), field(log, 3, 18)))
                .containsExactly("client-info", "entry-id", "timestamp-created", "timestamp-last-updated");
        assertThat(admin.call("ACL", "LOG", "1").elements()).hasSize(1);
        assertThat(admin.call("ACL", "LOG", "-1").elements()).isEmpty();
        assertThat(admin.info("acl_access_denied_key")).isEqualTo("3");
        assertThat(admin.info("acl_access_denied_cmd")).isEqualTo("1");
        assertThat(admin.info("acl_access_denied_auth")).isEqualTo("1");
        assertThat(admin.call("CONFIG", "RESETSTAT").text()).isEqualTo("OK");
        assertThat(admin.info("acl_access_denied_key")).isEqualTo("0");
        assertThat(admin.call("ACL", "LOG", "RESET").text()).isEqualTo("OK");
        assertThat(admin.call("ACL", "LOG").elements()).isEmpty();
    }

    @Test
    void longNamesAreTruncatedInTheLog() throws IOException {
        user("u", "on", "nopass", "+@all", "~a");
        try (RawClient client = login("u", "")) {
            assertRefused(client, NO_KEY, "GET", "k".repeat(60_000));
            assertThat(client.call("AUTH", "n".repeat(60_000), "pw").text()).startsWith("WRONGPASS");
        }
        RawReply log = admin.call("ACL", "LOG");
        assertThat(field(log, 0, 9)).isEqualTo("n".repeat(4096));
        assertThat(field(log, 1, 7)).isEqualTo("k".repeat(4096));
    }

    private static List<String> entry(RawReply log, int index) {
        return List.of(field(log, index, 1), field(log, index, 3), field(log, index, 5), field(log, index, 7),
                field(log, index, 9));
    }

    private static String field(RawReply log, int index, int element) {
        return log.elements().get(index).elements().get(element).text();
    }

    @Test
    void thePasswordOfTheDefaultUserIsTheSetting() throws IOException {
        // The UTF-8 of an a with two dots above, in bytes.
        String password = "p\u00c3\u00a4ss";
        try (RawClient other = new RawClient(server.port())) {
            assertThat(other.call("PING").text()).isEqualTo("PONG");
            assertThat(admin.call("CONFIG", "SET", "requirepass", "p\u00e4ss").text())
                    .contains("must be text in UTF-8");
            assertThat(admin.call("CONFIG", "SET", "requirepass", password).text()).isEqualTo("OK");
            // An authenticated client stays authenticated.
            assertThat(other.call("PING").text()).isEqualTo("PONG");
        }
        try (RawClient other = new RawClient(server.port())) {
            assertRefused(other, "NOAUTH Authentication required.", "PING");
            assertThat(other.call("AUTH", "pass").text()).startsWith("WRONGPASS");
            assertThat(other.call("AUTH", password).text()).isEqualTo("OK");
            user("default", ">second");
            assertThat(other.call("AUTH", "second").text()).isEqualTo("OK");
            assertThat(other.call("RESET").text()).isEqualTo("RESET");
            assertRefused(other, "NOAUTH Authentication required.", "PING");
            assertThat(admin.call("CONFIG", "SET", "requirepass", "").text()).isEqualTo("OK");
            // Clients no longer have to authenticate.
            assertThat(other.call("PING").text()).isEqualTo("PONG");
            user("default", "off");
            assertRefused(other, "NOAUTH Authentication required.", "PING");
            user("default", "on");
        }
    }

    /** The UTF-8 of an a with two dots above, in bytes. */
    @Test
    void namesAreReportedByteForByte() throws IOException {
        String name = "\u00c3\u00a4";
        user(name, "on", "nopass", "+@all");
        try (RawClient client = login(name, "")) {
            assertThat(client.call("ACL", "WHOAMI").text()).isEqualTo(name);
            assertThat(client.call("CLIENT", "INFO").text()).contains(" user=" + name + " ");
            assertRefused(client, NO_KEY, "GET", "a");
            RawReply log = client.call("ACL", "LOG");
            assertThat(field(log, 0, 9)).isEqualTo(name);
            assertThat(field(log, 0, 13)).contains(" cmd=get user=" + name + " ");
        }
    }

    @Test
    void clientsAreListedAndKilledByTheirUser() throws IOException {
        user("u", "on", "nopass", "+@all", "~*");
        try (RawClient client = login("u", "")) {
            assertThat(client.call("CLIENT", "INFO").text()).contains(" user=u ");
            assertRefused(admin, "ERR No such user 'nobody'", "CLIENT", "KILL", "USER", "nobody");
            assertThat(admin.call("CLIENT", "KILL", "USER", "u").text()).isEqualTo("1");
            assertThat(client.readToEnd()).isEmpty();
        }
    }

    /** Rules that depend on their order are listed so that they can be given again. */
    @Test
    void listedRulesRecreateTheUserWithSetuser() throws IOException {
        user("u", "%R~a", "%R~*", "%W~*", "~b", "(%RW~* ~c +get)");
        String line = admin.call("ACL", "LIST").elements().getLast().text();
        assertThat(line)
                .isEqualTo("user u off %R~a %RW~* ~b resetchannels -@all (%RW~* ~c resetchannels -@all +get)");
        user("v", line.substring("user u ".length()).split(" "));
        assertThat(admin.call("ACL", "LIST").elements().getLast().text()).isEqualTo(line.replace("user u", "user v"));
    }

    @Test
    void theFileOfUsersIsReadAndWritten() throws IOException {
        Path file = Files.writeString(folder.resolve("users.acl"), "user u on nopass +@all ~*\n");
        try (VarveServer filed = server.start("maxmemory 64mb", "aclfile " + file);
                RawClient root = new RawClient(filed.port());
                RawClient client = new RawClient(filed.port())) {
            assertThat(client.call("AUTH", "u", "").text()).isEqualTo("OK");
            assertThat(root.call("ACL", "SETUSER", "v", "on", ">pw").text()).isEqualTo("OK");
            assertThat(root.call("ACL", "SAVE").text()).isEqualTo("OK");
            assertThat(Files.readAllLines(file)).containsExactly("user default on nopass ~* &* +@all",
                    "user u on nopass ~* resetchannels +@all",
                    "user v on #30c952fab122c3f9759f02a6d95c3758b246b4fee239957b2d4fee46e26170c4 resetchannels -@all");
            Files.writeString(file, "user u on nopass +@all ~* -nosuch\n");
            assertThat(root.call("ACL", "LOAD").text()).startsWith("ERR " + file + ":1: Unknown command or category");
            assertThat(client.call("PING").text()).isEqualTo("PONG");
            Files.writeString(file, "user u on nopass +get ~*\n");
            assertThat(root.call("ACL", "LOAD").text()).isEqualTo("OK");
            assertThat(client.readToEnd()).isEmpty();
            assertThat(root.call("ACL", "USERS").elements()).extracting(RawReply::text).containsExactly("default", "u");
        }
    }

    @Test
    void usersAreWrittenToTheConfigurationsFile() throws IOException {
        Path file = Files.write(folder.resolve("varve.conf"),
                List.of("port 0", "io-threads 1", "maxmemory 64mb", "user u on >pw ~a", "# end"));
        try (VarveServer filed = server.start(ConfigReader.read(List.of(file.toString())));
                RawClient root = new RawClient(filed.port())) {
            assertThat(root.call("ACL", "SETUSER", "v", "on", "nopass", "~\"q\"", "(+get ~b)").text()).isEqualTo("OK");
            assertThat(root.call("CONFIG", "SET", "requirepass", "abc").text()).isEqualTo("OK");
            assertThat(root.call("CONFIG", "REWRITE").text()).isEqualTo("OK");
            List<String> before = root.call("ACL", "LIST").elements().stream().map(RawReply::text).toList();
            assertThat(Files.readAllLines(file, StandardCharsets.UTF_8)).containsExactly("port 0", "io-threads 1",
                    "maxmemory 64mb",
                    "user u on #30c952fab122c3f9759f02a6d95c3758b246b4fee239957b2d4fee46e26170c4 ~a resetchannels -@all",
                    "user v on nopass \"~\\\"q\\\"\" resetchannels -@all (~b resetchannels -@all +get)", "# end",
                    "# Added by CONFIG REWRITE", "requirepass abc");
            try (VarveServer again = server.start(ConfigReader.read(List.of(file.toString())));
                    RawClient client = new RawClient(again.port())) {
                assertThat(client.call("AUTH", "abc").text()).isEqualTo("OK");
                assertThat(client.call("ACL", "LIST").elements()).extracting(RawReply::text).isEqualTo(before);
            }
        }
    }

    @Test
    void aGeneratedPasswordIsAnother() throws IOException {
        String one = admin.call("ACL", "GENPASS").text();
        assertThat(one).matches("[0-9a-f]{64}").isNotEqualTo(admin.call("ACL", "GENPASS").text());
        assertThat(admin.call("ACL", "GENPASS", "5").text()).matches("[0-9a-f]{2}");
        assertThat(admin.call("ACL", "GENPASS", "4096").text()).hasSize(1024);
    }

    @Test
    void commandsOfACategory() throws IOException {
        assertThat(admin.call("ACL", "CAT", "TRANSACTION").elements()).extracting(RawReply::text)
                .containsExactlyInAnyOrder("multi", "exec", "discard", "watch", "unwatch");
        assertThat(admin.call("ACL", "HELP").elements().getFirst().text()).startsWith("ACL <subcommand>");
    }

    @Test
    void sortPatternsNeedTheRightToReadAllKeys() throws IOException {
        admin.call("RPUSH", "l", "2", "1");
        admin.call("MSET", "w_1", "5", "w_2", "4");
        user("some", "on", ">pw", "+sort", "+sort_ro", "~l", "~w_*", "~d");
        user("all", "on", ">pw", "+sort", "%R~*", "%W~d");
        try (RawClient some = login("some", "pw"); RawClient all = login("all", "pw")) {
            assertThat(some.call("SORT", "l").elements()).hasSize(2);
            assertThat(some.call("SORT", "l", "BY", "nosort", "STORE", "d").integer()).isEqualTo(2);
            assertRefused(some, "ERR BY option of SORT denied due to insufficient ACL permissions.", "SORT", "l", "BY",
                    "w_*");
            assertRefused(some, "ERR GET option of SORT denied due to insufficient ACL permissions.", "SORT_RO", "l",
                    "GET", "#");
            assertRefused(some, NO_KEY, "SORT", "l", "STORE", "other");
            assertThat(all.call("SORT", "l", "BY", "w_*", "GET", "w_*").elements()).hasSize(2);
            assertThat(all.call("SORT", "l", "STORE", "d").integer()).isEqualTo(2);
            assertRefused(all, NO_KEY, "SORT", "l", "STORE", "other");
        }
    }
}
