package io.varve.ycsb.option;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The table of records, and its statements: a column for the key, named as in YCSB's own JDBC binding, and a binary
 * column for each field. Immutable.
 *
 * @param table its name
 * @param fields all fields of a record, in the order of the columns
 * @param fieldType type of the columns; empty for a type that suits the database
 */
public record TableShape(String table, List<String> fields, String fieldType) {

    /** Default: a type that suits the database. */
    static final String FIELD_TYPE = "varve.db.field-type";

    private static final String KEY = "YCSB_KEY";
    /** Properties of YCSB's core workload. */
    private static final String TABLE = "table";
    private static final String FIELD_PREFIX = "fieldnameprefix";
    private static final int MAX_FIELDS = 1000;
    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");
    private static final Pattern TYPE = Pattern.compile("[A-Za-z][A-Za-z0-9_ (),]*");

    /** @throws IllegalArgumentException with a line that names the property, its value and the allowed values */
    static TableShape read(PropertyReader reader, Properties properties, int fieldCount) {
        String table = name(properties, TABLE, "usertable");
        String prefix = name(properties, FIELD_PREFIX, "field");
        if (fieldCount > MAX_FIELDS) {
            throw PropertyReader.refused("fieldcount", Integer.toString(fieldCount),
                    "a whole number from 1 to " + MAX_FIELDS + ", because each field is a column");
        }
        List<String> fields = new ArrayList<>();
        for (int i = 0; i < fieldCount; i++) {
            fields.add(prefix + i);
        }
        String type = reader.text(FIELD_TYPE, "");
        if (!type.isEmpty() && !TYPE.matcher(type).matches()) {
            throw PropertyReader.refused(FIELD_TYPE, type, "a binary type, such as BLOB or BYTEA");
        }
        return new TableShape(table, List.copyOf(fields), type);
    }

    private static String name(Properties properties, String property, String orElse) {
        String name = properties.getProperty(property, orElse);
        if (!NAME.matcher(name).matches()) {
            throw PropertyReader.refused(property, name,
                    "a letter or '_', then letters, digits and '_', because it names a table or its columns");
        }
        return name;
    }

    /**
     * @param requested a record's fields, before they become part of a statement
     * @throws IllegalArgumentException if the table has no such column
     */
    public void check(Collection<String> requested) {
        for (String field : requested) {
            if (!fields.contains(field)) {
                throw new IllegalArgumentException("table " + table + " has no field " + field + ": it has "
                        + fields.get(0) + " to " + fields.get(fields.size() - 1)
                        + ", according to fieldcount and fieldnameprefix");
            }
        }
    }

    public String probe() {
        return "SELECT " + KEY + ", " + String.join(", ", fields) + " FROM " + table + " WHERE 1 = 0";
    }

    /** @param product the database product, as its driver reports it */
    public String create(String product) {
        String type = fieldType.isEmpty() ? bytesType(product.toLowerCase(Locale.ROOT)) : fieldType;
        return "CREATE TABLE " + table + " (" + KEY + " VARCHAR(255) PRIMARY KEY, "
                + fields.stream().map(field -> field + " " + type).collect(Collectors.joining(", ")) + ")";
    }

    private static String bytesType(String product) {
        if (product.contains("postgresql")) {
            return "BYTEA";
        }
        if (product.contains("mysql") || product.contains("mariadb")) {
            return "MEDIUMBLOB";
        }
        // H2 stores a BLOB beside the record.
        return product.equals("h2") ? "VARBINARY" : "BLOB";
    }

    public String select() {
        return "SELECT " + String.join(", ", fields) + " FROM " + table + " WHERE " + KEY + " = ?";
    }

    /** Fields in order, then the key. */
    public String insert() {
        return "INSERT INTO " + table + " (" + String.join(", ", fields) + ", " + KEY + ") VALUES ("
                + "?, ".repeat(fields.size()) + "?)";
    }

    /** These fields in order, then the key. */
    public String update(Collection<String> written) {
        return "UPDATE " + table + " SET "
                + written.stream().map(field -> field + " = ?").collect(Collectors.joining(", ")) + " WHERE " + KEY
                + " = ?";
    }

    public String delete() {
        return "DELETE FROM " + table + " WHERE " + KEY + " = ?";
    }

    /** The key, then the fields. */
    public String scan() {
        return "SELECT " + KEY + ", " + String.join(", ", fields) + " FROM " + table + " WHERE " + KEY
                + " >= ? ORDER BY " + KEY;
    }
}
