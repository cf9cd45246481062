# What the encodings capnp and capnp-packed write: a stream of messages, each of them an Entry (packed or not), so that
#
#   capnp convert binary:json schemas/table.capnp Entry < FILE       (packed:json for capnp-packed)
#
# shows all of a file. In order: start, header, any number of times frame and rows, and a frame of no rows.

@0xd8b7a5e3f1c04962;

struct Entry {
  union {
    start @0 :Void;
    # The first message of a file in frames. Its segment ends with words to which nothing points; they tell that what
    # follows lies as brc wrote it. Whoever writes the messages anew leaves them out.

    header @1 :Header;
    frame @2 :Frame;
    rows @3 :Rows;
  }
}

struct Header {
  version @0 :UInt32;
  # 1 if all columns are of strings, of integers of 64 bits and of decimals of 18 digits (or of as many as decimals), without
  # nulls, and no name has a comma or outer spaces; otherwise 2.

  checksum @1 :UInt32;
  # CRC-32C of the schema.

  schema @2 :Text;
  # The columns with their types: "station:string,temperature:decimal(1)"; in version 2 as `brc --schema` has them,
  # "station:string not null,at:timestamp with zone".
}

# What stands before each message of rows, always in as many bytes. The last one in the file has length 0 and rows 0,
# and its checksum is the number of frames before it, modulo 2^32.
struct Frame {
  mark @0 :UInt64;
  # The bytes "brcframe". None is zero, so that what follows can be packed as it is: in as many bytes whatever it is.

  length @1 :UInt32;
  # The bytes of the next message, as it lies in the file.

  rows @2 :UInt32;
  # Its rows.

  checksum @3 :UInt32;
  # CRC-32C of its bytes.

  own @4 :UInt32;
  # CRC-32C of the twelve bytes of length, rows and checksum, each with its lowest byte first.
}

struct Rows {
  rows @0 :UInt32;
  # How many.

  columns @1 :List(Column);
  # One for each field of the header.
}

struct Column {
  union {
    text :group {
      dictionary @0 :List(Text);
      # The distinct strings of this message. Usually UTF-8, but any bytes are kept as they are, and binary data are such
      # strings too.

      union {
        codes @1 :List(UInt16);
        # For each row, where its string stands in the dictionary.

        wideCodes @2 :List(UInt32);
        # The same, for more than 65,536 strings.
      }
    }

    # Integers, for each row one, as narrow as those of this message allow: numbers; decimals in units of their column's
    # scale; days since 1970-01-01; times since midnight and timestamps since 1970-01-01 00:00:00, in UTC if they have a
    # zone, in units of their column's type; UUIDs as the 16 bytes of the UUID, the first of them the highest, minus
    # 2^127, so that they are ordered as the texts are.
    int8 @3 :List(Int8);
    int16 @4 :List(Int16);
    int32 @5 :List(Int32);
    int64 @6 :List(Int64);

    # All others are of version 2.

    nullable :group {
      # A column of which rows of this message are null.
      validity @7 :List(Bool);
      # For each row, whether it has a value.
      values @8 :Column;
      # For each row one; any of those that are null.
    }

    bools @9 :List(Bool);

    int128 :group {
      # Integers that do not fit 64 bits: high * 2^64 + low.
      low @10 :List(UInt64);
      high @11 :List(Int64);
    }

    float64 @12 :List(Float64);
    float32 @13 :List(Float32);
  }
}
