package io.varve.server.acl;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.varve.server.config.ByteOrderMark;
import io.varve.server.config.ConfigReader;
import io.varve.server.config.FileReplacement;

/**
 * Reads and writes the ACL file, one user a line: {@code user NAME RULE…}. Immutable: static methods only. The file has
 * no comments, because the server rewrites it.
 */
final class AclFile {
    private AclFile() {}

    /** @param errors receives a sentence for each problem, without the text of the rule */
    static Map<String, User> read(Path file, AccessControl control, List<String> errors) {
        Map<String, User> users = new TreeMap<>();
        List<String> lines;
        try {
            lines = ByteOrderMark.linesWithout(file, StandardCharsets.ISO_8859_1);
        } catch (IOException unreadable) {
            errors.add("Error loading ACLs, opening file '" + file + "': " + reason(unreadable));
            return users;
        }
        for (int number = 1; number <= lines.size(); number++) {
            String line = ConfigReader.stripped(lines.get(number - 1));
            if (!line.isEmpty()) {
                read(line, file + ":" + number, control, users, errors);
            }
        }
        if (!errors.isEmpty()) {
            errors.add("WARNING: ACL errors detected, no change to the previously active ACL rules was performed");
        }
        return users;
    }

    private static String reason(IOException unreadable) {
        return switch (unreadable) {
            case NoSuchFileException _ -> "No such file or directory";
            case AccessDeniedException _ -> "Permission denied";
            default -> String.valueOf(unreadable.getMessage());
        };
    }

    private static void read(String line, String where, AccessControl control, Map<String, User> users,
            List<String> errors) {
        List<String> words = Arrays.asList(line.split(" ", -1));
        if (words.size() < 2 || !words.getFirst().equals("user")) {
            errors.add(where + " should start with user keyword followed by the username.");
            return;
        }
        String name = words.get(1);
        if (UserDraft.hasBlank(name)) {
            errors.add("'" + where + ": username '" + name + "' contains invalid characters.");
            return;
        }
        if (users.containsKey(name)) {
            errors.add("WARNING: Duplicate user '" + name + "' found on line "
                    + where.substring(where.lastIndexOf(':') + 1) + ".");
            return;
        }
        UserDraft draft = control.newDraft();
        try {
            for (String rule : AccessControl.mergeGroups(words.subList(2, words.size()))) {
                draft.apply(ConfigReader.stripped(rule));
            }
            users.put(name, draft.build());
        } catch (RuleException bad) {
            errors.add(where + ": " + bad.reason() + ".");
        }
    }

    static void write(Path file, List<String> lines) throws IOException {
        FileReplacement.replace(file, (String.join("\n", lines) + "\n").getBytes(StandardCharsets.ISO_8859_1));
    }
}
