package io.varve.server;

import java.io.IOException;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** COMMAND over a socket: the shapes of the replies in both protocols. Confined to the test's thread. */
class CommandCommandsTest {
    @RegisterExtension
    static final ServerExtension server = ServerExtension.withStubCache("io-threads 1", "maxmemory 64mb");

    private String execute(int protocol, String line) throws IOException {
        try (RawClient client = new RawClient(server.port())) {
            if (protocol == 3) {
                assertThat(client.command("HELLO", "3")).startsWith("%7");
            }
            return client.command(line.split(" ")).replace("\r\n", " ").strip();
        }
    }

    @Test
    void infoIsArraysInResp2() throws IOException {
        assertThat(execute(2, "COMMAND INFO GET nosuch config|get")).isEqualTo("*3"
                + " *10 $3 get :2 *2 +readonly +fast :1 :1 :1 *3 +@read +@string +@fast *0"
                + " *1 *6 $5 flags *2 +RO +access $12 begin_search *4 $4 type $5 index $4 spec *2 $5 index :1"
                + " $9 find_keys *4 $4 type $5 range $4 spec *6 $7 lastkey :0 $7 keystep :1 $5 limit :0 *0"
                + " $-1"
                + " *10 $10 config|get :-3 *4 +admin +noscript +loading +stale :0 :0 :0"
                + " *3 +@admin +@slow +@dangerous *0 *0 *0");
        assertThat(execute(2, "COMMAND INFO client|kill"))
                .contains(" *4 +@admin +@slow +@dangerous +@connection ");
    }

    @Test
    void infoIsSetsAndMapsInResp3() throws IOException {
        assertThat(execute(3, "COMMAND INFO mset nosuch")).isEqualTo("*2"
                + " *10 $4 mset :-3 ~2 +write +denyoom :1 :-1 :2 ~3 +@write +@string +@slow"
                + " ~2 $26 request_policy:multi_shard $29 response_policy:all_succeeded"
                + " ~1 %3 $5 flags ~2 +OW +update $12 begin_search %2 $4 type $5 index $4 spec %1 $5 index :1"
                + " $9 find_keys %2 $4 type $5 range $4 spec %3 $7 lastkey :-1 $7 keystep :2 $5 limit :0 ~0 _");
    }

    @Test
    void docsOmitUnknownCommands() throws IOException {
        assertThat(execute(2, "COMMAND DOCS strlen nosuch")).isEqualTo("*2 $6 strlen *8 $7 summary"
                + " $36 Returns the length of a string value $5 since $5 2.2.0 $5 group $6 string"
                + " $10 complexity $4 O(1)");
        for (String command : new String[] {"rename", "renamenx"}) {
            assertThat(execute(2, "COMMAND DOCS " + command))
                    .endsWith(" O(1), or O(N) where N is the size of a large collection that moves to another shard");
        }
        assertThat(execute(3, "COMMAND DOCS nosuch")).isEqualTo("%0");
        assertThat(execute(3, "COMMAND DOCS module")).startsWith("%1 $6 module %5 $7 summary")
                .contains(" $11 subcommands %1 $11 module|list %4 $7 summary ");
    }

    @Test
    void withoutNamesAllCommandsAreReturned() throws IOException {
        int count = Integer.parseInt(execute(2, "COMMAND COUNT").substring(1));
        assertThat(count).isGreaterThan(80);
        assertThat(execute(2, "COMMAND")).startsWith("*" + count + " *10 ");
        assertThat(execute(2, "COMMAND INFO")).isEqualTo(execute(2, "COMMAND"));
        assertThat(execute(2, "COMMAND DOCS")).startsWith("*" + 2 * count + " ");
        assertThat(execute(3, "COMMAND DOCS")).startsWith("%" + count + " ");
        assertThat(execute(2, "COMMAND LIST")).contains(" $3 get ").contains(" $10 config|get ");
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {
            "COMMAND LIST FILTERBY PATTERN HGE*; *4 $4 hget $7 hgetall $6 hgetex $7 hgetdel",
            "COMMAND LIST filterby pattern config|r*; *2 $16 config|resetstat $14 config|rewrite",
            "COMMAND LIST FILTERBY MODULE any; *0", "COMMAND LIST FILTERBY ACLCAT nosuch; *0",
            "COMMAND LIST FILTERBY NOSUCH x; -ERR syntax error",
            "COMMAND LIST FILTERBY PATTERN; -ERR syntax error", "COMMAND LIST all; -ERR syntax error",
            "COMMAND GETKEYS get a; *1 $1 a", "COMMAND GETKEYS MSET a 1 b 2; *2 $1 a $1 b",
            "COMMAND GETKEYS object freq k; *1 $1 k", "COMMAND GETKEYSANDFLAGS copy a b; "
                    + "*2 *2 $1 a *2 +RO +access *2 $1 b *2 +OW +update",
            "COMMAND GETKEYSANDFLAGS set a b; *1 *2 $1 a *2 +OW +update",
            "COMMAND GETKEYSANDFLAGS set a get ex 5; *1 *2 $1 a *2 +OW +update",
            "COMMAND GETKEYSANDFLAGS set a b Get; *1 *2 $1 a *3 +RW +access +update",
            "COMMAND GETKEYS config get x; -ERR The command has no key arguments",
            "COMMAND GETKEYS spublish a b; -ERR The command has no key arguments",
            "COMMAND GETKEYS get a b c; -ERR Invalid number of arguments specified for command",
            "COMMAND GETKEYS object nosuch k; -ERR Invalid command specified",
            "COMMAND GETKEYS nosuch x; -ERR Invalid command specified",
            "COMMAND GETKEYS get; -ERR Invalid number of arguments specified for command",
            "COMMAND COUNT x; -ERR wrong number of arguments for 'command|count' command",
            "COMMAND nosuch; -ERR unknown subcommand 'nosuch'. Try COMMAND HELP."})
    void listsAndKeys(String request, String reply) throws IOException {
        assertThat(execute(2, request)).isEqualTo(reply);
    }

    @Test
    void keysWithFlagsAreSetsInResp3() throws IOException {
        assertThat(execute(3, "COMMAND GETKEYSANDFLAGS rename a b"))
                .isEqualTo("*2 *2 $1 a ~3 +RW +access +delete *2 $1 b ~2 +OW +update");
    }

    @Test
    void helpNamesEverySubcommand() throws IOException {
        String help = execute(2, "COMMAND HELP");
        assertThat(help).contains("+COUNT", "+DOCS", "+GETKEYS", "+GETKEYSANDFLAGS", "+INFO", "+LIST", "+HELP");
    }
}
